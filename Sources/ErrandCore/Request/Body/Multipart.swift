import ErrandJSON
public import Foundation

/// A form of several parts (`multipart/form-data`, RFC 7578): any mix of fields, JSON, files and streams.
///
/// ```swift
/// var body: RequestBody? {
///   .multipart([
///     .text("title", "A cat"), .json("tags", ["pet", "cat"]), .file("image", photo),
///   ])
/// }
/// ```
///
/// The length of the body is known if the lengths of all parts are known. Files and streams are not read into memory to
/// find the length. The boundary consists of 40 random letters and digits. If the whole form is in memory and short,
/// the boundary is a hash of the form instead. The boundary never occurs in a part that is in memory. Files and streams
/// are not searched for the boundary, but it is extremely unlikely that they contain it.
public struct Multipart: Sendable, ExpressibleByArrayLiteral {
  /// The parts, in the order in which they are sent.
  public var parts: [Part]

  /// Makes a form from parts.
  public init(_ parts: [Part] = []) { self.parts = parts }
  /// Makes a form from an array literal of parts.
  public init(arrayLiteral elements: Part...) { self.init(elements) }
}

extension Multipart {
  /// One part of a form.
  public struct Part: Sendable {
    enum Content: Sendable {
      case body(HTTPBody)
      case file(URL)
      case written(String, @Sendable (JSONEncoding) throws -> Data)
    }

    /// The name of the form field. Quotes and line ends in the name are escaped as browsers escape them.
    package var name: String
    /// The file name that the part declares; nil for a plain field.
    package var filename: String?
    /// The media type of the part; nil for text in UTF-8, which needs no media type.
    package var type: String?
    /// Further header fields of the part. They must not include `Content-Disposition` and `Content-Type`, which are
    /// made from `name`, `filename` and `type`.
    package var fields = HTTPFields()
    let content: Content

    /// The body that the part contains; nil for a file and for a value that is encoded.
    var body: HTTPBody? {
      if case .body(let body) = content { body } else { nil }
    }

    init(_ name: String, filename: String?, type: String?, _ content: Content) {
      self.name = name
      self.filename = filename
      self.type = type
      self.content = content
    }

    /// Returns a copy of the part with a further header field.
    public func field(_ name: HTTPFieldName, _ value: String) -> Part {
      var part = self
      part.fields.append(HTTPField(name, value))
      return part
    }

    /// A part that contains a text in UTF-8.
    public static func text(_ name: String, _ text: String) -> Part {
      Part(name, filename: nil, type: nil, .body(HTTPBody(Data(text.utf8))))
    }

    /// A part that contains any `Encodable` value as JSON, written by the request's ``Formats/jsonEncoding``.
    public static func json(_ name: String, _ value: some Encodable & Sendable) -> Part {
      Part(name, filename: nil, type: "application/json", .written("JSON") { try $0.encode(value) })
    }

    /// A part that contains any `Encodable` value in the given format.
    public static func encoded<Value: Encodable & Sendable>(
      _ name: String, _ value: Value, as format: some BodyFormat, filename: String? = nil
    ) -> Part {
      Part(name, filename: filename, type: format.contentType, .written(format.name) { _ in try format.encode(value) })
    }

    /// A part that contains bytes in memory.
    public static func data(
      _ name: String, _ data: Data, filename: String? = nil, type: String = "application/octet-stream"
    ) -> Part {
      Part(name, filename: filename, type: type, .body(HTTPBody(data)))
    }

    /// A part that contains a file, which is read while the body is sent.
    ///
    /// - Parameters:
    ///   - name: The name of the field.
    ///   - url: The URL of the file.
    ///   - filename: The file name that the part declares; nil for the file's own name.
    ///   - type: The media type; nil to derive it from the file extension.
    public static func file(_ name: String, _ url: URL, filename: String? = nil, type: String? = nil) -> Part {
      Part(name, filename: filename ?? url.lastPathComponent, type: type ?? FileTypes.type(of: url), .file(url))
    }

    /// A part that contains any body, such as ``ErrandHTTP/HTTPBody/stream(length:isReplayable:_:)`` or a range of a
    /// file.
    public static func body(
      _ name: String, _ body: HTTPBody, filename: String? = nil, type: String = "application/octet-stream"
    ) -> Part {
      Part(name, filename: filename, type: type, .body(body))
    }
  }
}

/// The media types of files with common file extensions, as registered by IANA.
enum FileTypes {
  /// The media type of a file; `application/octet-stream` for an unknown extension.
  static func type(of url: URL) -> String { known[url.pathExtension.lowercased()] ?? "application/octet-stream" }

  private static let known: [String: String] = [
    "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff",
    "webp": "image/webp",
    "aac": "audio/aac", "flac": "audio/flac", "m4a": "audio/mp4", "mp3": "audio/mpeg", "ogg": "audio/ogg",
    "wav": "audio/vnd.wave",
    "mov": "video/quicktime", "mp4": "video/mp4", "mpeg": "video/mpeg", "webm": "video/webm",
    "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "js": "text/javascript",
    "md": "text/markdown", "txt": "text/plain", "xml": "application/xml",
    "gz": "application/gzip", "json": "application/json", "pdf": "application/pdf", "tar": "application/x-tar",
    "wasm": "application/wasm", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
