import ErrandHTTP
import ErrandTesting
import Testing
import TestSupport

struct TransportRegistryTests {
  private final class Named: Transport {
    let name: String
    private let onEnd: @Sendable () -> Void

    init(_ name: String, onEnd: @escaping @Sendable () -> Void = {}) {
      self.name = name
      self.onEnd = onEnd
    }

    deinit { onEnd() }

    func send(_ exchange: Exchange) async throws -> HTTPResponse { throw TransportFailure(.other, name) }
  }

  private let registry = TransportRegistry()

  private func name(_ key: String) -> String? { (registry.transport(named: key) as? Named)?.name }

  @Test func `transport is created at first use`() {
    let made = Recorded<Int>()
    registry.register("one") {
      made.append(1)
      return Named("one")
    }
    #expect(made.count == 0)
    let first = registry.transport(named: "one") as? Named
    #expect(first != nil)
    #expect(first === registry.transport(named: "one") as? Named)
    #expect(made.count == 1)
  }

  @Test func `unknown name returns nil`() {
    #expect(registry.transport(named: "nope") == nil)
    #expect(registry.names.isEmpty)
  }

  @Test func `names are sorted`() {
    for name in ["c", "a", "b"] { registry.register(name) { Named(name) } }
    #expect(registry.names == ["a", "b", "c"])
  }

  @Test func `names are compared by bytes`() {
    for key in ["\u{e9}", "e\u{301}"] { registry.register(key) { Named("\(key.utf8.count) bytes") } }
    #expect(name("\u{e9}") == "2 bytes" && name("e\u{301}") == "3 bytes")
    #expect(registry.names.count == 2)
  }

  @Test func `replacing is optional`() {
    registry.register("x") { Named("first") }
    registry.register("x", replacing: false) { Named("second") }
    #expect(name("x") == "first")
    registry.register("x") { Named("third") }
    #expect(name("x") == "third")
  }

  @Test func `replacement during creation is kept`() {
    registry.register("x") { [registry] in
      registry.register("x") { Named("new") }
      return Named("old")
    }
    #expect(name("x") == "old")
    #expect(name("x") == "new", "the old transport does not replace the new one")
  }

  @Test func `replaced transport may use the registry`() {
    let seen = Recorded<[String]>()
    registry.register("x") { [registry] in Named("old") { seen.append(registry.names) } }
    #expect(name("x") == "old")
    registry.register("x") { Named("new") }
    #expect(seen.all == [["x"]], "the old transport is freed outside the registry's lock")
  }

  @Test func `concurrent threads get one transport`() async {
    for _ in 0..<rounds {
      let registry = TransportRegistry()
      registry.register("x") { Named("x") }
      let found = await withTaskGroup(of: ObjectIdentifier?.self) { group in
        let kept = Recorded<Named>()
        for _ in 0..<4 {
          group.addTask {
            guard let transport = registry.transport(named: "x") as? Named else { return nil }
            kept.append(transport)
            return ObjectIdentifier(transport)
          }
        }
        return await group.reduce(into: Set<ObjectIdentifier?>()) { $0.insert($1) }
      }
      #expect(found.count == 1)
    }
  }
}
