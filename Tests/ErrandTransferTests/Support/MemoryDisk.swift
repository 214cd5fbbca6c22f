import ErrandTesting
/// A simulated disk with one folder and the system's cache of it, for simulating a power loss.
struct MemoryDisk {
  enum Change {
    case write(Int, [UInt8])
    case cut(Int)
  }

  enum NameChange {
    case set(String, Int)
    case remove(String)
    case rename(String, String, Int)
  }

  struct File {
    /// The contents as programs see them.
    var bytes: [UInt8] = []
    /// The contents on the disk.
    var durable: [UInt8] = []
    /// The changes that are not on the disk yet, in order.
    var pending: [Change] = []
    var holder: Int32?
  }

  var files: [Int: File] = [:]
  var names: [String: Int] = [:]
  var durableNames: [String: Int] = [:]
  var log: [NameChange] = []
  var handles: [Int32: Int] = [:]
  private var nextFile = 1
  private var nextHandle: Int32 = 100

  mutating func make(_ name: String) -> Int {
    defer { nextFile += 1 }
    files[nextFile] = File()
    set(name, nextFile)
    return nextFile
  }

  mutating func handle(_ file: Int) -> Int32 {
    defer { nextHandle += 1 }
    handles[nextHandle] = file
    return nextHandle
  }

  mutating func set(_ name: String, _ file: Int) {
    names[name] = file
    log.append(.set(name, file))
  }

  mutating func remove(_ name: String) {
    names[name] = nil
    log.append(.remove(name))
  }

  mutating func change(_ file: Int, _ change: Change) {
    Self.apply(change, &files[file, default: File()].bytes)
    files[file]?.pending.append(change)
  }

  mutating func synchronize(_ file: Int) {
    guard let bytes = files[file]?.bytes else { return }
    files[file]?.durable = bytes
    files[file]?.pending = []
  }

  mutating func synchronizeNames() {
    durableNames = names
    log = []
  }

  /// The pending changes that a power loss discards.
  enum Loss: Sendable, CaseIterable { case everything, nothing, some }

  /// Ends every process. In a power loss, each pending write may be lost; changes of names survive in order, as on a
  /// journaling file system.
  mutating func crash(_ loss: Loss, using random: inout SeededNumbers) {
    handles = [:]
    for (number, old) in files {
      var file = old
      file.holder = nil
      for change in file.pending where Self.survives(loss, &random) { Self.apply(change, &file.durable) }
      file.bytes = file.durable
      file.pending = []
      files[number] = file
    }
    let survivors =
      switch loss {
      case .everything: 0
      case .nothing: log.count
      case .some: Int.random(in: 0...log.count, using: &random)
      }
    for change in log.prefix(survivors) {
      switch change {
      case .set(let name, let file): durableNames[name] = file
      case .remove(let name): durableNames[name] = nil
      case .rename(let old, let new, let file):
        durableNames[old] = nil
        durableNames[new] = file
      }
    }
    names = durableNames
    log = []
  }

  private static func survives(_ loss: Loss, _ random: inout SeededNumbers) -> Bool {
    switch loss {
    case .everything: false
    case .nothing: true
    case .some: Bool.random(using: &random)
    }
  }

  private static func apply(_ change: Change, _ bytes: inout [UInt8]) {
    switch change {
    case .write(let place, let new):
      if bytes.count < place { bytes += [UInt8](repeating: 0, count: place - bytes.count) }
      bytes.replaceSubrange(place..<min(place + new.count, bytes.count), with: new)
    case .cut(let length):
      if bytes.count > length {
        bytes.removeLast(bytes.count - length)
      } else {
        bytes += [UInt8](repeating: 0, count: length - bytes.count)
      }
    }
  }
}
