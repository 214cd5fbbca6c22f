import Errand
import ErrandTesting
import Foundation
import Synchronization

/// The servers of the album, in this process: an API and a CDN.
final class AlbumServer: Sendable {
  let api: LoopbackServer
  let cdn: LoopbackServer
  private let shelf: AlbumShelf

  /// The pictures of the CDN and their sizes.
  static let pictures = ["fern.png": 12_000, "moss.png": 8_000, "reed.png": 4_000, "meadow.png": 400_000]

  /// The bytes of the large picture that the server sends before it closes the first connection.
  static let firstCut = 150_000

  init() throws {
    let shelf = AlbumShelf()
    self.shelf = shelf
    api = try LoopbackServer { shelf.answer($0) }
    cdn = try LoopbackServer { shelf.picture($0) }
  }

  /// The number of requests for user info.
  var infosServed: Int { shelf.infosServed }

  /// The bytes of a picture.
  static func bytes(of name: String) -> [UInt8] {
    (0..<(pictures[name] ?? 0)).map { LoopbackAnswer.generatedByte(at: $0) }
  }
}

/// The state of the servers.
private final class AlbumShelf: Sendable {
  private struct State {
    var names: [String] = []
    var infosServed = 0
    var photos = 0
    var hasBroken = false
  }

  private let state = Mutex(State())

  var infosServed: Int { state.withLock { $0.infosServed } }

  func answer(_ request: RecordedRequest) -> LoopbackAnswer {
    switch (request.method, request.path) {
    case ("POST", "/accounts"): return register(request)
    case ("POST", "/photos"): return addPhoto(request)
    case (_, "/greeting"): return .ok("Welcome to the album!")
    case (_, "/accounts/9"): return .json(#"{"name": "Eve", "level": "nine", "avatar": "fern.png", "albums": []}"#)
    case (_, let path) where path.hasSuffix("/friends"): return .json(#"["Grace", "Alan", "Edith"]"#)
    case (_, let path) where path.hasPrefix("/accounts/"): return info()
    default: return .status(404)
    }
  }

  /// A complete picture, or the requested rest of it; the first response with the large one is truncated.
  func picture(_ request: RecordedRequest) -> LoopbackAnswer {
    let name = String(request.path.dropFirst("/images/".count))
    guard let size = AlbumServer.pictures[name] else { return .status(404) }
    let bytes = AlbumServer.bytes(of: name)
    let tag = "\"\(name)-1\""
    guard let start = Self.start(in: request, tag), start < size else {
      let whole = LoopbackAnswer.data(bytes, contentType: "image/png").setting("ETag", to: tag)
        .setting("Accept-Ranges", to: "bytes")
      let breaks = name == "meadow.png" && state.withLock { !($0.hasBroken.replaced(by: true)) }
      return breaks ? whole.cut(after: AlbumServer.firstCut) : whole
    }
    return .data(bytes[start...], contentType: "image/png", status: 206).setting("ETag", to: tag)
      .setting("Content-Range", to: "bytes \(start)-\(size - 1)/\(size)")
  }

  /// The position where a resumed download continues; nil if it wants the whole picture, or has another version.
  private static func start(in request: RecordedRequest, _ tag: String) -> Int? {
    guard let range = request.headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
      request.headers["If-Range"] == tag
    else { return nil }
    return Int(range.dropFirst("bytes=".count).dropLast())
  }

  private func register(_ request: RecordedRequest) -> LoopbackAnswer {
    guard let name = (try? FormValues(parsing: Data(request.body)))?["name"] else { return .status(400) }
    let id = state.withLock { state -> Int? in
      guard !state.names.contains(name) else { return nil }
      state.names.append(name)
      return state.names.count
    }
    guard let id else { return .json(#"{"message": "The name is taken."}"#, status: 409) }
    return .json(#"{"id": \#(id)}"#, status: 201)
  }

  private func info() -> LoopbackAnswer {
    let level = state.withLock { state in
      state.infosServed += 1
      return state.infosServed
    }
    return .json(#"{"name": "Ada", "level": \#(level), "avatar": "fern.png", "albums": [1, 2]}"#)
  }

  private func addPhoto(_ request: RecordedRequest) -> LoopbackAnswer {
    let number = state.withLock { state in
      state.photos += 1
      return state.photos
    }
    return .json(#"{"number": \#(number), "bytes": \#(request.bodyLength)}"#, status: 201)
  }
}

extension Bool {
  /// Sets a new value and returns the old one.
  fileprivate mutating func replaced(by new: Bool) -> Bool {
    defer { self = new }
    return self
  }
}
