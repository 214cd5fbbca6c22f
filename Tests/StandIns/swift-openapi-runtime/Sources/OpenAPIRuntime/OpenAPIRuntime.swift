// A stand-in documents nothing: the package that it stands for does.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Foundation
public import HTTPTypes

public enum IterationBehavior: Sendable {
  case single, multiple
}

public protocol ClientTransport: Sendable {
  func send(_ request: HTTPRequest, body: HTTPBody?, baseURL: URL, operationID: String) async throws -> (
    HTTPResponse, HTTPBody?
  )
}

public final class HTTPBody: Sendable, AsyncSequence {
  public typealias ByteChunk = ArraySlice<UInt8>
  public typealias Element = ByteChunk

  public enum Length: Sendable, Equatable {
    case unknown
    case known(Int64)
  }

  public let length: Length
  public let iterationBehavior: IterationBehavior
  private let make: @Sendable () -> Iterator

  public init<Bytes: AsyncSequence & Sendable>(
    _ sequence: Bytes, length: Length, iterationBehavior: IterationBehavior
  ) where Bytes.Element == ByteChunk {
    self.length = length
    self.iterationBehavior = iterationBehavior
    make = { Iterator(sequence.makeAsyncIterator()) }
  }

  public convenience init(_ bytes: some Collection<UInt8> & Sendable, length: Length) {
    let piece = ArraySlice(bytes)
    let pieces = AsyncPieces(piece: piece)
    self.init(pieces, length: length, iterationBehavior: .multiple)
  }

  public convenience init(_ data: Data) { self.init(data, length: .known(Int64(data.count))) }
  public convenience init(_ text: String) { self.init(Data(text.utf8)) }

  public func makeAsyncIterator() -> Iterator { make() }

  public struct Iterator: AsyncIteratorProtocol {
    private let produce: () async throws -> ByteChunk?

    init<Source: AsyncIteratorProtocol>(_ source: Source) where Source.Element == ByteChunk {
      var source = source
      produce = { try await source.next() }
    }

    public mutating func next() async throws -> ByteChunk? { try await produce() }
  }
}

private struct AsyncPieces: AsyncSequence, Sendable {
  let piece: ArraySlice<UInt8>

  func makeAsyncIterator() -> Iterator { Iterator(piece: piece) }

  struct Iterator: AsyncIteratorProtocol {
    var piece: ArraySlice<UInt8>?

    mutating func next() async -> ArraySlice<UInt8>? { piece.take() }
  }
}

extension Data {
  public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws {
    struct TooLong: Error {}
    var data = Data()
    for try await piece in body {
      guard data.count + piece.count <= maxBytes else { throw TooLong() }
      data.append(contentsOf: piece)
    }
    self = data
  }
}

extension String {
  public init(collecting body: HTTPBody, upTo maxBytes: Int) async throws {
    self = String(decoding: try await Data(collecting: body, upTo: maxBytes), as: UTF8.self)
  }
}
