#if os(Linux)
  import Errand
  import ErrandCurl
  import ErrandTesting
  import Foundation
  import Testing

  struct CurlExecutorTests {
    private struct Numbers: APIRequest {
      let count: Int
      var path: Path { "/numbers" }
      var arguments: Arguments { ["count": count] }
      var validation: ResponseValidation { ResponseValidation(shape: [.integer]) }
      typealias Response = [Int]
    }

    private static func server() throws -> LoopbackServer {
      try LoopbackServer { request in
        let count = Int(request.query?.split(separator: "=").last ?? "") ?? 0
        return .json("[" + (0..<count).map(String.init).joined(separator: ",") + "]")
      }
    }

    @Test func `tasks run on the transport's thread`() async throws {
      let server = try Self.server()
      let transport = CurlTransport()
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.transport = .own(transport)
      let client = APIClient(configuration)
      let sums = try await withTaskExecutorPreference(transport.executor) {
        try await withThrowingTaskGroup(of: Int.self) { group in
          for count in 1...50 { group.addTask { try await client.send(Numbers(count: count)).count } }
          return try await group.reduce(0, +)
        }
      }
      #expect(sums == 50 * 51 / 2)
      #expect(client.running.isEmpty)
    }

    @Test func `large bodies are decoded on another thread`() async throws {
      let server = try Self.server()
      let transport = CurlTransport()
      var configuration = ClientConfiguration(baseURL: server.url)
      configuration.transport = .own(transport)
      let client = APIClient(configuration)
      let loop = await withTaskExecutorPreference(transport.executor) { await Self.thread() }
      let (value, decoding) = try await withTaskExecutorPreference(transport.executor) {
        let value = try await client.send(Marked(count: 20_000))
        return (value.numbers.count, value.thread)
      }
      #expect(value == 20_000)
      #expect(decoding != loop)
    }

    @Test func `executor works without its transport`() async throws {
      let executor = CurlTransport().executor
      let answer = await Task(executorPreference: executor) {
        await Task.yield(); return 7
      }.value
      #expect(answer == 7)
    }

    private struct Marked: APIRequest {
      let count: Int
      var path: Path { "/numbers" }
      var arguments: Arguments { ["count": count] }
      struct Response: Decodable, Sendable {
        let numbers: [Int]
        let thread: UInt
        init(from decoder: any Decoder) throws {
          numbers = try decoder.singleValueContainer().decode([Int].self)
          thread = CurlExecutorTests.current
        }
      }
    }

    private static var current: UInt { UInt(pthread_self()) }
    private static func thread() async -> UInt { current }
  }
#endif
