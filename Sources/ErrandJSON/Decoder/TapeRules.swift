import ErrandSupport
import Foundation

/// What a `JSONDecoder` was set to, for reading values from a tape.
final class TapeRules: @unchecked Sendable {  // nothing of it changes once it is made; names are behind a lock
  /// How the keys of a text become those that types ask for.
  enum Keys {
    case asWritten
    /// As Foundation turns them.
    case converted
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)
  }

  /// How many names are kept. Texts with more have keys that are data, not names.
  private static let mostNames = 4_096

  let dates: JSONDecoder.DateDecodingStrategy
  let data: JSONDecoder.DataDecodingStrategy
  let floats: JSONDecoder.NonConformingFloatDecodingStrategy
  let keys: Keys
  let userInfo: [CodingUserInfoKey: Any]
  private let decoder: JSONDecoder
  private let names = Locked<[JSONKeyText: String]>([:])

  /// Foundation's defaults.
  static let standard = TapeRules()
  /// Under which key a `JSONDecoder` holds the rules for a ``JSONReadable`` that it meets on its way.
  static let inUserInfo = CodingUserInfoKey(rawValue: "errand.json.rules")

  private init() {
    decoder = JSONDecoder()
    (dates, data, floats, keys, userInfo) = (.deferredToDate, .base64, .throw, .asWritten, [:])
  }

  /// How a decoder reads values. Keys stay as they are: it has turned them by then.
  init(valuesOf decoder: JSONDecoder) {
    dates = decoder.dateDecodingStrategy
    data = decoder.dataDecodingStrategy
    floats = decoder.nonConformingFloatDecodingStrategy
    keys = .asWritten
    userInfo = decoder.userInfo
    self.decoder = JSONDecoder()  // the decoder itself holds these rules
  }

  /// Nil where the decoder was set to something that only Foundation can do.
  init?(_ decoder: JSONDecoder) {
    guard !decoder.allowsJSON5, !decoder.assumesTopLevelDictionary else { return nil }
    switch decoder.keyDecodingStrategy {
    case .useDefaultKeys: keys = .asWritten
    case .convertFromSnakeCase: keys = .converted
    case .custom(let convert): keys = .custom(convert)
    @unknown default: return nil
    }
    dates = decoder.dateDecodingStrategy
    data = decoder.dataDecodingStrategy
    floats = decoder.nonConformingFloatDecodingStrategy
    userInfo = decoder.userInfo
    self.decoder = decoder
  }

  /// Whether keys stay as they are written.
  var keepsKeys: Bool {
    if case .asWritten = keys { true } else { false }
  }

  /// Whether the name of a key depends on where it stands.
  var needsPaths: Bool {
    if case .custom = keys { true } else { false }
  }

  /// The name by which types ask for a key.
  /// - Parameter path: The way to the object, where names depend on it.
  func name(of key: String, in path: [any CodingKey]) -> String {
    switch keys {
    case .asWritten: return key
    case .custom(let convert): return convert(path + [AnyKey(key)]).stringValue
    case .converted:
      // Without an underscore there is nothing to convert.
      guard key.utf8.contains(UInt8(ascii: "_")) else { return key }
      let text = JSONKeyText(key)
      if let known = names.withLock({ $0[text] }) { return known }
      let name = FirstKey.name(of: key, by: decoder)
      names.withLock { if $0.count < Self.mostNames { $0[text] = name } }
      return name
    }
  }
}

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
