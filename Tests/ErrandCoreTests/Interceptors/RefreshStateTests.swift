@testable import ErrandCore
import Testing

/// The caller that refreshes, the callers that wait, and the effect of the last result on later callers.
struct RefreshStateTests {
  private typealias State = RefreshState<Int, String>

  private static let (old, new) = (Credential.bearer("old"), Credential.bearer("new"))
  private static let failure = APIError(.authorize, .refreshFailed, "No.")

  private func moment(_ seconds: Int) -> MonotonicInstant { .start.advanced(by: .seconds(seconds)) }

  private final class Login: CredentialProvider {
    let account: String? = nil
    func credential(for account: String?) async throws -> Credential? { nil }
  }

  private static let login = Login()

  private func whose(_ account: String?, of provider: any CredentialProvider = login) -> RefreshSubject {
    RefreshSubject(account, of: provider, at: nil)
  }

  /// A short text for a decision, for comparison.
  private func word(_ decision: State.Decision) -> String {
    switch decision {
    case .use(let credential): credential == Self.new ? "use new" : "use other"
    case .fail(let error): "fail \(error.message)"
    case .begin(let refresh, _): "begin \(refresh)"
    case .wait(let refresh, _): "wait \(refresh)"
    case .refuse: "refuse"
    }
  }

  private func ticket(_ decision: State.Decision) throws -> State.Ticket {
    switch decision {
    case .begin(_, let ticket), .wait(_, let ticket): ticket
    case .use, .fail, .refuse: try #require(nil as State.Ticket?)
    }
  }

  @Test func `first caller refreshes and others wait`() throws {
    var state = State()
    let first = state.request(whose("a"), Self.old, 1, moment(0)) { "one" }
    #expect(word(first) == "begin one")
    #expect(word(state.request(whose("a"), Self.old, 2, moment(0)) { "two" }) == "wait one")
    #expect(word(state.request(whose("a"), .bearer("older still"), 3, moment(0)) { "three" }) == "wait one")
    let other = state.request(whose("b"), Self.old, 4, moment(0)) { "four" }
    #expect(word(other) == "begin four", "accounts are independent of each other")
    #expect(word(state.request(whose(nil), Self.old, 5, moment(0)) { "five" }) == "begin five")
    #expect(state.finish(try ticket(first), .success(Self.new), moment(1)) == [1, 2, 3])
  }

  private struct Token: CredentialProvider {
    let account: String? = nil
    func credential(for account: String?) async throws -> Credential? { nil }
  }

  @Test func `value provider waits only for its own credential`() {
    var state = State()
    let subject = whose(nil, of: Token())
    #expect(word(state.request(subject, Self.old, 1, moment(0)) { "one" }) == "begin one")
    #expect(word(state.request(subject, Self.old, 2, moment(0)) { "two" }) == "wait one")
    #expect(word(state.request(subject, .bearer("another's"), 3, moment(0)) { "three" }) == "refuse")
    #expect(state.waiting == 2)
  }

  @Test func `transient failure is forgotten soon`() throws {
    var state = State()
    let failure = APIError(.authorize, .refreshUnavailable, "No.")
    for second in stride(from: 0, to: 20, by: 2) {
      let decision = state.request(whose("a"), Self.old, 1, moment(second)) { "\(second)" }
      #expect(word(decision) == "begin \(second)", "a transient failure does not stop later refreshes")
      #expect(state.finish(try ticket(decision), .failure(failure), moment(second)) == [1])
    }
    #expect(word(state.request(whose("a"), Self.old, 2, moment(18)) { "soon" }) == "fail No.")
    #expect(word(state.request(whose("a"), Self.old, 2, moment(19)) { "later" }) == "begin later")
  }

  @Test func `late caller uses the new credential`() throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    _ = state.finish(first, .success(Self.new), moment(1))
    #expect(word(state.request(whose("a"), Self.old, 2, moment(90)) { "two" }) == "use new")
    let second = state.request(whose("a"), Self.new, 3, moment(90)) { "three" }
    #expect(word(second) == "begin three", "the new credential has also expired")
  }

  @Test(arguments: [(0, "fail No."), (9, "fail No."), (10, "begin two")])
  func `failure is remembered for ten seconds`(seconds: Int, then: String) throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    #expect(state.finish(first, .failure(Self.failure), moment(0)) == [1])
    #expect(word(state.request(whose("a"), Self.old, 2, moment(seconds)) { "two" }) == then)
  }

  @Test func `failure applies only to its credential`() throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    _ = state.finish(first, .failure(Self.failure), moment(0))
    #expect(word(state.request(whose("a"), Self.new, 2, moment(1)) { "two" }) == "begin two")
  }

  private static let cancels: [any Error] = [CancellationError(), APIError.stopped(.cancelled)]

  @Test(arguments: 0..<2) func `cancelled refresh begins again at once`(kind: Int) throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    let error = APIError(.authorize, .refreshUnavailable, "No.", cause: Self.cancels[kind])
    #expect(state.finish(first, .failure(error), moment(0)) == [1])
    for number in 2...5 {
      let next = state.request(whose("a"), Self.old, number, moment(0)) { "\(number)" }
      #expect(word(next) == "begin \(number)")
      #expect(state.finish(try ticket(next), .failure(error), moment(0)) == [number])
    }
    #expect(word(state.request(whose("a"), Self.old, 6, moment(0)) { "six" }) == "refuse", "each one is counted")
  }

  @Test func `caller that left is not notified`() throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    let second = try ticket(state.request(whose("a"), Self.old, 2, moment(0)) { "two" })
    state.cancelWait(first)
    state.cancelWait(first)
    #expect(state.finish(first, .success(Self.new), moment(1)) == [2], "the refresh continues")
    state.cancelWait(second)
    #expect(state.finish(first, .success(Self.new), moment(1)) == [])
  }

  @Test func `late end of a wait does not affect a later refresh`() throws {
    var state = State()
    let first = try ticket(state.request(whose("a"), Self.old, 1, moment(0)) { "one" })
    _ = state.finish(first, .success(Self.new), moment(1))
    let second = try ticket(state.request(whose("a"), Self.new, 2, moment(2)) { "two" })
    state.cancelWait(first)
    #expect(state.finish(first, .success(Self.old), moment(3)) == [], "its callers were already notified")
    #expect(state.finish(second, .success(Self.old), moment(3)) == [2])
  }

  @Test func `refresh loop stops after five`() throws {
    var state = State()
    for number in 0..<5 {
      let ticket = try ticket(state.request(whose("a"), .bearer("\(number)"), number, moment(number)) { "\(number)" })
      _ = state.finish(ticket, .success(.bearer("\(number + 1)")), moment(number))
    }
    #expect(word(state.request(whose("a"), .bearer("5"), 9, moment(29)) { "x" }) == "refuse")
    #expect(word(state.request(whose("b"), .bearer("5"), 9, moment(29)) { "y" }) == "begin y")
    #expect(word(state.request(whose("a"), .bearer("5"), 9, moment(30)) { "z" }) == "begin z")
  }

  @Test func `number of remembered accounts is bounded`() throws {
    var (state, most) = (State(), 0)
    for number in 0..<10_000 {
      let ticket = try ticket(state.request(whose("\(number)"), Self.old, number, moment(number)) { "f" })
      _ = state.finish(ticket, .success(Self.new), moment(number))
      most = max(most, state.count)
    }
    #expect(most == 100)
  }

  @Test func `providers do not share refreshes`() throws {
    var state = State()
    #expect(word(state.request(whose("a"), Self.old, 1, moment(0)) { "one" }) == "begin one")
    let other = Login()
    #expect(word(state.request(whose("a", of: other), Self.old, 2, moment(0)) { "two" }) == "begin two")
    #expect(Set(state.end("a").map(\.refresh)) == ["one", "two"], "the end of a session ends all its refreshes")
    let bases = try ["http://a.example", "http://b.example"].map { try HTTPURL($0).origin }
    let subjects = bases.map { RefreshSubject("a", of: FixedCredential(.bearer("t")), at: $0) }
    #expect(subjects[0] != subjects[1], "a value provider is identified by its type and base")
    #expect(
      RefreshSubject("a", of: other, at: bases[0]) == whose("a", of: other),
      "an object provider is the same at each base")
  }
}
