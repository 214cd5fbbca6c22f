public import Foundation

/// A file that belongs to an ``OutboxRequest``, such as a photo to upload.
///
/// ```swift
/// struct SendPhoto: OutboxRequest {
///   let photo: OutboxFile
///   var path: Path { "/photos" }
///   var method: HTTPMethod { .post }
///   var body: RequestBody? { .file(photo.url) }
///   typealias Response = Nothing
/// }
/// let receipt = try await outbox.add(SendPhoto(photo: OutboxFile(url)))
/// ```
///
/// When the request is added, the outbox takes the file into its own folder: as a clone that shares the blocks of the
/// file, as a hard link, or as a copy, whichever the file system allows. So the app may then replace or remove its
/// file, but must not write into it: a file that has changed is not sent, and the entry is parked. The outbox removes
/// its file when the entry is delivered or cancelled. The files are not sealed by an ``OutboxSeal``.
public struct OutboxFile: Sendable, Hashable, Codable {
  /// The place of the content: the file of the app before the request is added, and the file of the outbox when the
  /// request is sent.
  public let url: URL
  /// The name of the app's file, for example for a part of a form.
  public let name: String
  /// The file of the outbox; nil for a file of the app.
  let stored: Stored?

  struct Stored: Sendable, Hashable {
    let name: String
    let entry: Int64
  }

  /// Refers to a file of the app.
  public init(_ url: URL) {
    self.url = url
    name = url.lastPathComponent
    stored = nil
  }

  private struct Form: Codable {
    /// The name in the folder of the outbox; nil for a file of the app.
    var file: String?
    var url: URL?
    var name: String
  }

  /// Reads the place of the file.
  public init(from decoder: any Decoder) throws {
    let form = try decoder.singleValueContainer().decode(Form.self)
    name = form.name
    if let file = form.file {
      guard let resolver = RequestResolver.key.flatMap({ decoder.userInfo[$0] }) as? RequestResolver else {
        throw OutboxError(.file, "The file “\(name)” belongs to an outbox, which alone can decode it.")
      }
      (url, stored) = try resolver.file(file, name)
    } else if let url = form.url {
      (self.url, stored) = (url, nil)
    } else {
      throw OutboxError(.file, "The file “\(name)” has no place.")
    }
  }

  /// Writes the place of the file. An outbox takes the file into its folder.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    guard let collector = RequestCollector.key.flatMap({ encoder.userInfo[$0] }) as? RequestCollector else {
      return try container.encode(Form(url: url, name: name))
    }
    try container.encode(Form(file: collector.name(of: self), name: name))
  }
}
