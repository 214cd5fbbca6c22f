import ErrandJSON
public import Foundation

/// A web page in one file that shows the calls of an HTTP archive (HAR 1.2): what happened, when, and why.
///
/// The page needs no network: its content security policy forbids every request. It shows archives of
/// `FlightRecord.har()` with their decisions, and those of browsers and proxies.
///
/// ```swift
/// let page = try FlightPage(archive: client.flightRecord.har())
/// try page.html.write(to: URL.temporaryDirectory.appending(path: "calls.html"))
/// ```
public struct FlightPage: Sendable {
  /// The page as HTML in UTF-8. It contains everything that the archive contains, so it is as confidential as the
  /// archive.
  public var html: Data { PageDocument.html(archive: archive, nonce: nonce, mode: .file) }

  /// The archive as JSON that cannot end the script element around it.
  private let archive: Data
  private let nonce = PageDocument.nonce()

  /// Creates a page from an archive, which is JSON in UTF-8.
  ///
  /// - Throws: ``FlightPageError`` if the data is not JSON or has no list of entries.
  public init(archive: Data) throws {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: archive)
    } catch {
      throw FlightPageError("The archive is not JSON: \(error). Pass the bytes of a file in the format HAR 1.2.")
    }
    guard value["log"]?["entries"]?.arrayValue != nil else {
      throw FlightPageError(
        "The archive has no list `log.entries`. Pass the bytes of a file in the format HAR 1.2.")
    }
    self.archive = PageDocument.embeddable(try value.serialized())
  }
}

/// The reason why no page can be made.
public struct FlightPageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, and the cure.
  public let description: String

  init(_ description: String) { self.description = description }
}
