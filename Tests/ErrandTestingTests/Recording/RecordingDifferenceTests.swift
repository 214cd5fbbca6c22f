import Errand
import ErrandTesting
import Foundation
import Testing

struct RecordingDifferenceTests {
  private struct Refusal: Decodable, Sendable { let error: String }

  private struct GetUser: APIRequest {
    let id: Int
    var path: Path { "/users/\(id)" }
    typealias ErrorBody = Refusal
    struct Response: Decodable, Sendable { let nick: String, level: Int }
  }

  private struct GetPicture: APIRequest {
    var path: Path { "/picture" }
  }

  private let base = "https://h.example"

  private func differences(
    _ recording: Recording, _ change: (inout ClientConfiguration) -> Void = { _ in }
  ) async throws -> RecordingDifferences {
    var configuration = ClientConfiguration(baseURL: base)
    configuration.transport = .own(ScriptedTransport { _ in .failure(.other, "asked") })
    change(&configuration)
    return try await recording.differences(from: APIClient(configuration), GetUser(id: 7), GetPicture())
  }

  @Test func `each exchange is compared with its type`() async throws {
    let recording = Recording([
      try recorded("\(base)/users/7?page=1", .json(#"{"nick":"Ada","level":9}"#)),
      try recorded("\(base)/picture", ScriptedAnswer(body: Data([0xFF]))),
      try recorded("\(base)/users/7", .json(#"{"nick":null,"age":3}"#)),
      try recorded("\(base)/users/7", .json(#"{"message":"no"}"#, status: 404)),
      try recorded("\(base)/users/7", .failure(.reset)),
      try recorded("\(base)/users/7", .status(204)),
      try recorded("\(base)/news", .json("{}")),
    ])
    let found = try await differences(recording)
    #expect(
      found.description == """
        exchange 3, GET https://h.example/users/7: $.nick: expected a string, found null
        exchange 3, GET https://h.example/users/7: $.level: the key "level" is missing
        exchange 3, GET https://h.example/users/7: $.age: the type has no property for this member (a number)
        exchange 4, GET https://h.example/users/7: $.error: the key "error" is missing
        exchange 4, GET https://h.example/users/7: $.message: the type has no property for this member (a string)
        not compared: exchange 7
        """)
    #expect(found.all.map(\.kind) == [.otherType, .missing, .notRead, .missing, .notRead])
    #expect(found.uncompared == [7] && !found.isEmpty)
  }

  @Test func `current type has no differences`() async throws {
    let found = try await differences(
      Recording([try recorded("\(base)/users/7", .json(#"{"nick":"Ada","level":9}"#))]))
    #expect(found.isEmpty && found.description == "no difference")
  }

  @Test func `client's rules and envelope apply`() async throws {
    let recording = Recording([
      try recorded("\(base)/users/7", .json(#"{"code":0,"data":{"nick":"Ada","rank":9}}"#)),
      try recorded("\(base)/users/7", .json(#"{"code":4,"error":"gone"}"#)),
    ])
    let found = try await differences(recording) { $0.validation.envelope = Envelope(value: "data", code: "code") }
    #expect(found.all.map { "\($0.exchange) \($0.path)" } == ["1 $.data.level", "1 $.data.rank", "2 $.code"])
  }

  @Test func `masked secrets still match`() async throws {
    let recorder = RecordingTransport(
      ScriptedTransport(.json(#"{"nick":"Ada","level":9,"token":"abc"}"#)))
    _ = try await get("\(base)/users/7?token=abc", over: recorder)
    let found = try await differences(try recorder.recording())
    #expect(found.all.map { "\($0.path)" } == ["$.token"])
  }

  private struct Answering: Interceptor {
    func intercept(_ request: HTTPRequest, context: CallContext, next: Next) async throws -> HTTPResponse {
      HTTPResponse(head: ResponseHead(status: 200), url: request.url)
    }
  }

  @Test func `answering interceptor is named`() async throws {
    let error = await #expect(throws: APIError.self) {
      try await differences(Recording()) { $0.interceptors.calls = [Answering()] }
    }
    #expect(error?.code == .interceptor)
    #expect(error?.message.hasPrefix("An interceptor answered the request GetUser without calling `next`") == true)
  }

  @Test func `request that cannot be built is an error`() async throws {
    let client = APIClient(baseURL: "")
    await #expect(throws: APIError.self) { try await Recording().differences(from: client, GetUser(id: 7)) }
  }
}
