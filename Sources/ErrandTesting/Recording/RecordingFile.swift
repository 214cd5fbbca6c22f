import ErrandCore
import ErrandJSON
import Foundation

/// The file of a ``Recording``: JSON in UTF-8, indented, with sorted keys.
///
/// ```json
/// {
///   "exchanges" : [
///     {
///       "request" : {
///         "body" : { "text" : "{\"name\":\"Ada\",\"password\":\"masked\"}" },
///         "fields" : [ "Content-Type: application/json", "Authorization: Bearer masked" ],
///         "method" : "POST",
///         "url" : "https://api.example.com/login?token=masked"
///       },
///       "response" : {
///         "body" : { "text" : "{\"id\":7}" },
///         "fields" : [ "Content-Type: application/json" ],
///         "status" : 200,
///         "version" : "HTTP/1.1"
///       }
///     }
///   ],
///   "format" : "errand-recording",
///   "masked" : { "fields" : [], "items" : [], "paths" : [], "shown" : [] },
///   "version" : 1
/// }
/// ```
///
/// - A body has `text` if its bytes are valid UTF-8, otherwise `base64`. A request without a body has no `body`.
/// - A response may have `reason`, `trailers` and `informational`, which is a list of responses without a body.
/// - A failed exchange has a `failure`, with `kind` and `text`, instead of a `response`. If the response body is
///   incomplete, the exchange has both.
/// - In a failure, `certainlyNotSent` is true if no server has received the request.
///
/// Unknown keys are ignored. The version increases only if the format changes in a way that older versions of the
/// library would misinterpret.
struct RecordingFile: Codable {
  static let formatName = "errand-recording"
  static let knownVersion = 1

  var format: String
  var version: Int
  var masked: RecordingMask
  var exchanges: [Exchange]

  struct Exchange: Codable {
    var request: Request
    var response: Response?
    var failure: Failure?
  }

  struct Request: Codable {
    var method: String
    var url: String
    var fields: [String]
    var body: Body?
  }

  struct Response: Codable {
    var status: Int
    var reason: String?
    var version: String?
    var fields: [String]
    var body: Body?
    var trailers: [String]?
    var informational: [Response]?
  }

  struct Failure: Codable {
    var kind: String
    var text: String
    /// True if no server has received the request; nil if the recording's file does not contain this key.
    var certainlyNotSent: Bool?
  }

  struct Body: Codable {
    var text: String?
    var base64: String?
  }

  /// The keys of a recording's file that are read first. The other keys are read only if this library knows the format
  /// and the version of the file.
  private struct Header: Decodable {
    var format: String
    var version: Int
  }

  func serialized() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Parses the bytes of a recording's file. Errors contain `name` as the name of the file.
  static func recording(in data: Data, named name: String) throws(RecordingError) -> Recording {
    let header = try decode(Header.self, data, name)
    guard header.format == formatName else {
      throw RecordingError.damaged(path: name, reason: "its format is \"\(header.format)\", not \"\(formatName)\"")
    }
    guard header.version <= knownVersion else {
      throw RecordingError.newer(path: name, version: header.version, known: knownVersion)
    }
    let file = try decode(RecordingFile.self, data, name)
    do throws(RecordingFlaw) {
      return try file.recording()
    } catch {
      throw RecordingError.damaged(path: name, reason: error.description)
    }
  }

  private static func decode<T: Decodable>(
    _ type: T.Type, _ data: Data, _ name: String
  ) throws(RecordingError) -> T {
    do {
      return try JSONDecoding.standard.decode(type, from: data)
    } catch {
      throw RecordingError.damaged(path: name, reason: error.description)
    }
  }
}
