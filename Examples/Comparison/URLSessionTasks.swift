import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The five tasks with Foundation alone.
struct URLSessionTasks: FiveTasks {
  private let base: String
  private let tokens: Tokens
  private let lists = Lists()

  init(base: String) {
    self.base = base
    tokens = Tokens(base: base)
  }

  /// Sends a request and returns its body if the status is in `accepted`.
  static func send(
    _ request: URLRequest, accepting accepted: Set<Int> = Set(200..<300)
  ) async throws -> (Data, HTTPURLResponse) {
    let (data, response) = try await URLSession.shared.data(for: request)
    guard let response = response as? HTTPURLResponse, accepted.contains(response.statusCode) else {
      throw URLError(.badServerResponse)
    }
    return (data, response)
  }

  static func request(_ text: String, method: String = "GET") throws -> URLRequest {
    guard let url = URL(string: text) else { throw URLError(.badURL) }
    var request = URLRequest(url: url)
    request.httpMethod = method
    return request
  }

  // MARK: 1
  func user(id: Int) async throws -> User {
    guard var parts = URLComponents(string: "\(base)/users/\(id)") else { throw URLError(.badURL) }
    parts.queryItems = [URLQueryItem(name: "verbose", value: "true")]
    guard let url = parts.url else { throw URLError(.badURL) }
    let (data, _) = try await Self.send(URLRequest(url: url))
    return try JSONDecoder().decode(User.self, from: data)
  }

  // MARK: 2
  func register(_ user: User) async throws -> User {
    var request = try Self.request("\(base)/users", method: "POST")
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    request.httpBody = try JSONEncoder().encode(user)
    let (data, response) = try await Self.send(request, accepting: Set(200..<300).union([422]))
    if response.statusCode == 422 {
      throw Rejected(message: try? JSONDecoder().decode(Problem.self, from: data).message)
    }
    return try JSONDecoder().decode(User.self, from: data)
  }

  // MARK: 3
  func upload(_ file: URL, onProgress: @escaping @Sendable (Int64) -> Void) async throws {
    let request = try Self.request("\(base)/photos/7", method: "PUT")
    // `upload(for:fromFile:delegate:)` does not exist on Linux, so a session with a delegate reports the progress.
    let delegate = UploadDelegate(onProgress)
    let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
    defer { session.finishTasksAndInvalidate() }
    try await delegate.run(session.uploadTask(with: request, fromFile: file))
  }

  final class UploadDelegate: NSObject, URLSessionTaskDelegate, @unchecked Sendable {  // the delegate queue is serial
    private let onProgress: @Sendable (Int64) -> Void
    private var continuation: CheckedContinuation<Void, any Error>?

    init(_ onProgress: @escaping @Sendable (Int64) -> Void) { self.onProgress = onProgress }

    func run(_ task: URLSessionTask) async throws {
      try await withCheckedThrowingContinuation { continuation in
        self.continuation = continuation
        task.resume()
      }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
      totalBytesExpectedToSend: Int64
    ) {
      onProgress(totalBytesSent)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      let status = (task.response as? HTTPURLResponse)?.statusCode ?? 0
      if let error {
        continuation?.resume(throwing: error)
      } else if (200..<300).contains(status) {
        continuation?.resume()
      } else {
        continuation?.resume(throwing: URLError(.badServerResponse))
      }
    }
  }

  // MARK: 4
  actor Tokens {
    private let base: String
    private var token = "old"
    private var renewal: Task<String, any Error>?

    init(base: String) { self.base = base }

    var current: String { token }

    func renewed(after old: String) async throws -> String {
      if token != old { return token }
      if let renewal { return try await renewal.value }
      let task = Task { [base] in
        let (data, _) = try await URLSessionTasks.send(try URLSessionTasks.request("\(base)/token", method: "POST"))
        return try JSONDecoder().decode(Token.self, from: data).token
      }
      renewal = task
      defer { renewal = nil }
      token = try await task.value
      return token
    }
  }

  func profile(id: Int) async throws -> User {
    var request = try Self.request("\(base)/profiles/\(id)")
    let token = await tokens.current
    request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
    var (data, response) = try await Self.send(request, accepting: Set(200..<300).union([401]))
    if response.statusCode == 401 {
      request.setValue("Bearer \(try await tokens.renewed(after: token))", forHTTPHeaderField: "Authorization")
      (data, response) = try await Self.send(request)
    }
    return try JSONDecoder().decode(User.self, from: data)
  }

  // MARK: 5
  func list() async throws -> [User] {
    // `URLCache` keeps a response only as long as its headers say, and a delegate that changes them is not called for
    // every task on Linux, so the list is kept here.
    if let kept = await lists.fresh { return kept }
    let (data, _) = try await Self.send(try Self.request("\(base)/users"))
    let list = try JSONDecoder().decode([User].self, from: data)
    await lists.keep(list)
    return list
  }

  actor Lists {
    private var kept: (list: [User], until: ContinuousClock.Instant)?

    var fresh: [User]? { kept.flatMap { $0.until > .now ? $0.list : nil } }

    func keep(_ list: [User]) { kept = (list, .now + .seconds(300)) }
  }
}
