import Foundation

/// Reads the first key of an object as a decoder shows it.
struct FirstKey: Decodable {
  private let name: String?

  init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: AnyKey.self).allKeys.first?.stringValue
  }

  /// A key as a decoder's key strategy turns it, found by letting it decode an object with that key.
  static func name(of key: String, by decoder: JSONDecoder) -> String {
    guard let probe = try? JSONValue.object([key: .null]).serialized() else { return key }
    return (try? decoder.decode(FirstKey.self, from: probe))?.name ?? key
  }
}
