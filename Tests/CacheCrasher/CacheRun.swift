import ErrandSupport
import ErrandCache
import ErrandCore
import Foundation

/// The work of the process in the folder.
final class CacheRun: Sendable {
  private struct State: Sendable {
    var random: UInt64
    var wrong = 0
    var found = 0
    var unavailable = 0
  }

  /// Too many entries for the two MiB that the tests allow.
  private static let keys: UInt64 = 240

  private let folder: URL
  private let store: SQLiteStore
  private let number: UInt64
  private let state: Locked<State>

  init(folder: URL, limit: Int, number: UInt64) {
    self.folder = folder
    store = SQLiteStore(folder: folder, limit: limit, entryLimit: limit / 8)
    self.number = number
    state = Locked(State(random: number &* 0x9E37_79B9_7F4A_7C15 | 1))
  }

  var isRight: Bool { state.withLock { $0.wrong == 0 } }

  /// Puts each entry once, so that the next process finds a full folder.
  func fill() async {
    for index in 0..<Self.keys {
      store.put(SelfDescribed.entry(index, version: 1, length: 12_000))
      // Flushes often, because a full backlog would drop entries.
      if index % 16 == 0 { await store.flush() }
    }
    await store.flush()
    await checkAll()
    let found = state.withLock { $0.found }
    say("kept \(found)")
    if found == 0 || found == Self.keys { state.withLock { $0.wrong += 1 } }
  }

  /// Reads all entries that an earlier process left, then writes until the process is killed. Prints one line per step.
  func writeForever() async {
    await checkAll()
    guard isRight else { return }
    say("ready \(state.withLock { $0.found })")
    while true {
      for _ in 0..<5 { step() }
      await store.flush()
      say("written")
    }
  }

  /// Writes, reads and removes for some seconds, at the same time as another process.
  func race() async {
    let end = MonotonicInstant.now.advanced(by: .seconds(Int64(clamping: number >> 8)))
    while MonotonicInstant.now < end, isRight {
      for _ in 0..<5 { step() }
      for _ in 0..<20 { await check(SelfDescribed.key(random(Self.keys))) }
      if random(200) == 0 { store.remove(.olderThan(.now)) }
      if random(4) == 0 { await store.flush() }
    }
    await checkAll()
    let (found, unavailable) = state.withLock { ($0.found, $0.unavailable) }
    say("found \(found) unavailable \(unavailable)")
    if found == 0 { state.withLock { $0.wrong += 1 } }
  }

  /// Writes to a disk that accepts only some bytes per file, reads, and writes again when there is space.
  func fillFullDisk() async {
    signal(SIGXFSZ, SIG_IGN)
    var old = rlimit()
    getrlimit(Self.fileSize, &old)
    for room in [0, 20_000, 300_000] {
      var small = rlimit(rlim_cur: rlim_t(room), rlim_max: old.rlim_max)
      setrlimit(Self.fileSize, &small)
      for _ in 0..<30 { step() }
      store.remove(.key(SelfDescribed.key(3)))
      for index in 0..<Self.keys { await check(SelfDescribed.key(index)) }
      await store.flush()
      if case .found = await look(SelfDescribed.key(3)) { say("removed entry \(room)") }
    }
    setrlimit(Self.fileSize, &old)
    await waitUntilWell()
  }

  /// Uses a full folder that is read-only, removes an entry, and writes again when the folder is writable.
  func useReadOnlyFolder() async {
    permit(folders: 0o555, files: 0o444)
    // Root may write everywhere, so continue as the user `nobody`.
    let isRoot = geteuid() == 0
    if isRoot, seteuid(65_534) != 0 { return say("no other user") }
    store.remove(.key(SelfDescribed.key(3)))
    for _ in 0..<30 { step() }
    await store.flush()
    await checkAll()
    let (found, unavailable) = state.withLock { ($0.found, $0.unavailable) }
    if found > 0 || unavailable == 0 { state.withLock { $0.wrong += 1 } }
    if isRoot, seteuid(0) != 0 { state.withLock { $0.wrong += 1 } }
    permit(folders: 0o700, files: 0o600)
    await waitUntilWell()
    if case .found = await look(SelfDescribed.key(3)) { say("removed entry") }
  }

  private func permit(folders: mode_t, files: mode_t) {
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    for path in [folder.path] + paths.map({ folder.appending(path: $0).path }) {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { continue }
      chmod(path, isFolder.boolValue ? folders : files)
    }
  }

  private func waitUntilWell() async {
    let start = MonotonicInstant.now
    while start.duration(to: .now) < .seconds(30) {
      store.put(SelfDescribed.entry(1, version: 1, length: 100))
      await store.flush()
      if case .found = await look(SelfDescribed.key(1)), await store.size().entries > 0 { return say("well again") }
    }
    say("not well again")
    state.withLock { $0.wrong += 1 }
  }

  /// Writes small and large bodies with a umask that removes no permissions.
  func writeWithOpenMask() async {
    umask(0)
    store.put(SelfDescribed.entry(1, version: 1, length: 100))
    store.put(SelfDescribed.entry(2, version: 1, length: 100_000))
    await store.flush()
    await checkAll()
    if state.withLock({ $0.found }) != 2 { state.withLock { $0.wrong += 1 } }
  }

  /// Removes many entries of a host. Prints a line as soon as the removal is recorded and not done yet; then the test
  /// kills the process.
  func removeMany(_ count: UInt64) async {
    for index in 0..<count {
      store.put(SelfDescribed.entry(index, version: 1, length: 100))
      if index % 500 == 0 { await store.flush() }
    }
    store.put(SelfDescribed.entry(count, version: 1, length: 100, host: "kept.example.com"))
    await store.flush()
    store.remove(.host("example.com"))
    while await store.removals(call: CallState(), patience: .zero) == .pending { await Task.yield() }
    if await store.removals(call: CallState(), patience: .zero) == .noted { say("recorded") } else { say("done") }
    await store.flush()
  }

  // MARK: -

  private func step() {
    let index = random(Self.keys)
    switch random(10) {
    case 0: store.remove(.key(SelfDescribed.key(index)))
    case 1: store.put(SelfDescribed.entry(index, version: random(1_000_000), length: 66_000 + random(60_000)))
    case 2: store.put(SelfDescribed.entry(index, version: random(1_000_000), length: 5_000 + random(20_000)))
    default: store.put(SelfDescribed.entry(index, version: random(1_000_000), length: random(3_000)))
    }
  }

  private func checkAll() async {
    for index in 0..<Self.keys { await check(SelfDescribed.key(index)) }
    for listing in await store.list() where listing.head.responseTime.milliseconds == 0 {
      state.withLock { $0.wrong += 1 }
    }
  }

  private func check(_ key: CacheKey) async {
    switch await look(key) {
    case .found(let entry):
      let isRight = SelfDescribed.isRight(entry, under: key)
      if !isRight { say("wrong body") }
      state.withLock {
        $0.found += 1
        if !isRight { $0.wrong += 1 }
      }
    case .unavailable: state.withLock { $0.unavailable += 1 }
    case .damaged: say("damaged")
    case .missing, .refused: break
    }
  }

  private func look(_ key: CacheKey) async -> CacheLookup {
    await store.find(key, choosing: { _ in 0 }, call: CallState(), patience: nil)
  }

  private func random(_ bound: UInt64) -> UInt64 {
    state.withLock { state in
      state.random ^= state.random << 13
      state.random ^= state.random >> 7
      state.random ^= state.random << 17
      return state.random >> 11 % bound
    }
  }

  private func say(_ line: String) {
    let line = line + "\n"
    _ = line.withCString { write(STDOUT_FILENO, $0, strlen($0)) }
  }

  #if canImport(Darwin)
    private static let fileSize = RLIMIT_FSIZE
  #else
    private static let fileSize = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
  #endif
}
