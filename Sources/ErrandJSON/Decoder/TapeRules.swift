import ErrandSupport
import Foundation

/// The strategies of a `JSONDecoder`, for reading values from a parsed document.
final class TapeRules: @unchecked Sendable {  // all properties are constants; the names are behind a lock
  /// The conversion of keys in the text to the names that types request.
  enum Keys {
    case asWritten
    /// The keys of the text are converted from snake case to camel case. Foundation converts each key.
    case converted
    case custom(@Sendable ([any CodingKey]) -> any CodingKey)
  }

  /// The maximum number of converted names to cache. A text with more different keys probably uses keys as data.
  private static let mostNames = 4_096

  let dates: JSONDecoder.DateDecodingStrategy
  let data: JSONDecoder.DataDecodingStrategy
  let floats: JSONDecoder.NonConformingFloatDecodingStrategy
  let keys: Keys
  let userInfo: [CodingUserInfoKey: Any]
  private let decoder: JSONDecoder
  private let names = Locked<[ByteText: String]>([:])

  /// The decoding rules that correspond to Foundation's default strategies.
  static let standard = TapeRules()
  /// The `userInfo` key under which a `JSONDecoder` passes its rules to the ``JSONReadable`` types that it reads.
  static let inUserInfo = CodingUserInfoKey(rawValue: "errand.json.rules")

  private init() {
    decoder = JSONDecoder()
    (dates, data, floats, keys, userInfo) = (.deferredToDate, .base64, .throw, .asWritten, [:])
  }

  /// Copies the strategies of a decoder for dates, data and numbers. Keys are not converted, because the decoder has
  /// already converted the keys.
  init(valuesOf decoder: JSONDecoder) {
    dates = decoder.dateDecodingStrategy
    data = decoder.dataDecodingStrategy
    floats = decoder.nonConformingFloatDecodingStrategy
    keys = .asWritten
    userInfo = decoder.userInfo
    self.decoder = JSONDecoder()  // `decoder` itself holds these rules, so a reference to it would be a reference cycle
  }

  /// Copies the strategies of a decoder. Nil if the decoder has a setting that only Foundation supports.
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

  /// Whether types request keys exactly as they are written in the text.
  var keepsKeys: Bool {
    if case .asWritten = keys { true } else { false }
  }

  /// Whether the name of a key depends on the path of its object.
  var needsPaths: Bool {
    if case .custom = keys { true } else { false }
  }

  /// The name by which types request a key of the text.
  /// - Parameter path: The coding path of the object; used only if ``needsPaths`` is true.
  func name(of key: String, in path: [any CodingKey]) -> String {
    switch keys {
    case .asWritten: return key
    case .custom(let convert): return convert(path + [AnyKey(key)]).stringValue
    case .converted:
      // A key without an underscore stays unchanged.
      guard key.utf8.contains(UInt8(ascii: "_")) else { return key }
      let text = ByteText(key)
      if let known = names.withLock({ $0[text] }) { return known }
      let name = FirstKey.name(of: key, by: decoder)
      names.withLock { if $0.count < Self.mostNames { $0[text] = name } }
      return name
    }
  }
}

/// Reads the first key of an object after the conversion by the decoder's key strategy.
struct FirstKey: Decodable {
  private let name: String?

  init(from decoder: any Decoder) throws {
    name = try decoder.container(keyedBy: AnyKey.self).allKeys.first?.stringValue
  }

  /// A key after conversion by a decoder's key strategy, found by decoding an object with that key.
  static func name(of key: String, by decoder: JSONDecoder) -> String {
    guard let probe = try? JSONValue.object([key: .null]).serialized() else { return key }
    return (try? decoder.decode(FirstKey.self, from: probe))?.name ?? key
  }
}
