import ErrandCache
import ErrandCore
import ErrandTesting
import Foundation
import StoreSamples
import Testing

/// A store whose thread is blocked.
struct BusyStoreTests {
  private let folder = TestFolder()
  private let hold = StoreHold()

  private func held(writing: Bool) async -> SQLiteStore {
    let hold = hold
    let sealing = BodySealing(
      seal: { writing ? hold.pass($0) : $0 }, open: { writing ? $0 : hold.pass($0) })
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20, sealing: sealing)
    store.put(Sample.entry("/free", body: "free"))
    await store.flush()
    store.put(Sample.entry("/hold", body: "hold"))
    return store
  }

  @Test func `patience ends on the clock of the call`() async {
    let store = await held(writing: false)
    await store.flush()
    let blocked = Task { await store.text(Sample.key("/hold")) }
    await hold.reached()
    let clock = ManualClock()
    let call = CallState(timers: clock)
    let waiting = Task {
      await store.find(Sample.key("/free"), choosing: { _ in 0 }, call: call, patience: .milliseconds(50))
    }
    #expect(await clock.waitForTimers(1))
    clock.advance(by: .milliseconds(51))
    guard case .unavailable = await waiting.value else {
      Issue.record("found in a busy store")
      return
    }
    #expect(clock.pending == 0 && call.openWaits == 0)
    hold.open()
    #expect(await blocked.value == "hold")
    #expect(await store.text(Sample.key("/free")) == "free")
  }

  @Test(arguments: [CallState.StopReason.cancelled, .expired])
  func `stopped call ends its wait`(_ reason: CallState.StopReason) async {
    let store = await held(writing: false)
    await store.flush()
    let blocked = Task { await store.text(Sample.key("/hold")) }
    await hold.reached()
    let call = CallState()
    let waiting = Task {
      await store.find(Sample.key("/free"), choosing: { _ in 0 }, call: call, patience: nil)
    }
    while call.openWaits == 0 { await Task.yield() }
    call.stop(reason)
    guard case .unavailable = await waiting.value else {
      Issue.record("found in a busy store")
      return
    }
    hold.open()
    #expect(await blocked.value == "hold")
  }

  @Test func `pending entries are found`() async {
    let store = await held(writing: true)
    await hold.reached()
    #expect(await store.text(Sample.key("/hold")) == "hold")
    store.put(Sample.entry("/next", body: "next"))
    #expect(await store.text(Sample.key("/next")) == "next")
    #expect(await store.holdsForOthers(Sample.key("/next", account: "another")))
    hold.open()
    await store.flush()
    #expect(await store.text(Sample.key("/next")) == "next")
    #expect(await store.text(Sample.key("/hold")) == "hold")
  }

  @Test(arguments: [CacheSelection.all, .key(Sample.key("/hold")), .host("api.example.com")])
  func `removal applies to entries being written`(_ selection: CacheSelection) async {
    let store = await held(writing: true)
    await hold.reached()
    store.put(Sample.entry("/next"))
    store.remove(selection)
    hold.open()
    for _ in 0..<2 {
      #expect(await store.isMissing(Sample.key("/hold")))
      await store.flush()
    }
  }

  @Test func `countless purges keep other entries`() async {
    let store = await held(writing: true)
    await hold.reached()
    let tagged = Sample.entry("/tagged", head: Sample.head(tag: "tag 1999"))
    store.put(tagged)
    for index in 0..<2_000 { store.remove(.tag("tag \(index)")) }
    hold.open()
    for _ in 0..<2 {
      #expect(await store.text(Sample.key("/free")) == "free")
      #expect(await store.isMissing(tagged.key))
      await store.flush()
    }
    #expect(await store.removals(call: CallState(), patience: .zero) == .done)
  }

  @Test func `countless purges remove stored entries`() async {
    let store = SQLiteStore(folder: folder.url, limit: 4 << 20)
    for index in [0, 1_500, 1_999, 5_000] {
      let head = Sample.head(host: "\(index).example.com", tag: "tag \(index)")
      store.put(Sample.entry("/\(index)", account: "\(index)", head: head))
    }
    await store.flush()
    for index in 0..<2_000 {
      switch index % 3 {
      case 0: store.remove(.tag("tag \(index)"))
      case 1: store.remove(.host("\(index).example.com"))
      default: store.remove(.account(Sample.digest("account \(index)")))
      }
    }
    for _ in 0..<2 {
      for index in [0, 1_500, 1_999] { #expect(await store.isMissing(Sample.key("/\(index)", account: "\(index)"))) }
      #expect(await store.text(Sample.key("/5000", account: "5000")) == "body")
      await store.flush()
    }
  }

  @Test func `renewal applies to entries being written`() async {
    let store = await held(writing: true)
    await hold.reached()
    let head = Sample.head(time: 9_000)
    store.renew(Sample.key("/hold"), stored: WallTime(milliseconds: 1_000), head: head)
    guard case .found(let found) = await store.newest(Sample.key("/hold")) else {
      Issue.record("not found")
      return
    }
    #expect(found.head == head)
    hold.open()
    await store.flush()
    #expect(await store.heads(Sample.key("/hold")) == [head])
    #expect(await store.text(Sample.key("/hold")) == "hold")
  }

  @Test func `full backlog drops entries`() async {
    let store = await held(writing: true)
    await hold.reached()
    store.put(Sample.entry("/free", body: "newer", head: Sample.head(time: 2_000)))
    var dropped = 0
    for index in 0..<40 {
      let key = Sample.key("/\(index)")
      store.put(CacheEntry(key: key, head: Sample.head(), body: Data(count: 100_000)))
      // A lookup that needs the thread would wait for it, so use a call that has already ended.
      let call = CallState()
      call.stop(.cancelled)
      if case .unavailable = await store.find(key, choosing: { _ in 0 }, call: call, patience: nil) { dropped += 1 }
    }
    #expect(dropped > 20 && dropped < 40)
    store.put(CacheEntry(key: Sample.key("/free"), head: Sample.head(time: 3_000), body: Data(count: 100_000)))
    hold.open()
    await store.flush()
    // The newest response was dropped, and the older ones must not be found instead.
    #expect(await store.isMissing(Sample.key("/free")))
  }
}
