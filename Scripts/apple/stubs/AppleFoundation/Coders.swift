public import Foundation

// The coders of JSON. Their strategies have a case `formatted` on Apple platforms only, so these classes hide those of
// Linux.

/// https://developer.apple.com/documentation/foundation/jsondecoder
open class JSONDecoder: @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/jsondecoder/datedecodingstrategy-swift.enum
  public enum DateDecodingStrategy: Sendable {
    case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601
    case formatted(DateFormatter)
    case custom(@Sendable (_ decoder: any Decoder) throws -> Date)
  }
  /// https://developer.apple.com/documentation/foundation/jsondecoder/datadecodingstrategy-swift.enum
  public enum DataDecodingStrategy: Sendable {
    case deferredToData, base64
    case custom(@Sendable (_ decoder: any Decoder) throws -> Data)
  }
  /// https://developer.apple.com/documentation/foundation/jsondecoder/nonconformingfloatdecodingstrategy-swift.enum
  public enum NonConformingFloatDecodingStrategy: Sendable {
    case `throw`
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
  /// https://developer.apple.com/documentation/foundation/jsondecoder/keydecodingstrategy-swift.enum
  public enum KeyDecodingStrategy: Sendable {
    case useDefaultKeys, convertFromSnakeCase
    case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
  }
  /// https://developer.apple.com/documentation/foundation/jsondecoder/datedecodingstrategy-swift.property
  open var dateDecodingStrategy: DateDecodingStrategy = .deferredToDate
  /// https://developer.apple.com/documentation/foundation/jsondecoder/datadecodingstrategy-swift.property
  open var dataDecodingStrategy: DataDecodingStrategy = .base64
  /// https://developer.apple.com/documentation/foundation/jsondecoder/nonconformingfloatdecodingstrategy-swift.property
  open var nonConformingFloatDecodingStrategy: NonConformingFloatDecodingStrategy = .throw
  /// https://developer.apple.com/documentation/foundation/jsondecoder/keydecodingstrategy-swift.property
  open var keyDecodingStrategy: KeyDecodingStrategy = .useDefaultKeys
  /// https://developer.apple.com/documentation/foundation/jsondecoder/userinfo
  open var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// https://developer.apple.com/documentation/foundation/jsondecoder/allowsjson5
  open var allowsJSON5 = false
  /// https://developer.apple.com/documentation/foundation/jsondecoder/assumestopleveldictionary
  open var assumesTopLevelDictionary = false
  /// https://developer.apple.com/documentation/foundation/jsondecoder/init()
  public init() {}
  /// https://developer.apple.com/documentation/foundation/jsondecoder/decode(_:from:)
  open func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T { fatalError() }
  /// https://developer.apple.com/documentation/foundation/jsondecoder
  open func decode<T: DecodableWithConfiguration>(
    _ type: T.Type, from data: Data, configuration: T.DecodingConfiguration
  ) throws -> T { fatalError() }
}

/// https://developer.apple.com/documentation/foundation/jsonencoder
open class JSONEncoder: @unchecked Sendable {
  /// https://developer.apple.com/documentation/foundation/jsonencoder/outputformatting-swift.struct
  public struct OutputFormatting: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// https://developer.apple.com/documentation/foundation/jsonencoder/outputformatting-swift.struct/prettyprinted
    public static let prettyPrinted = OutputFormatting(rawValue: 1)
    /// https://developer.apple.com/documentation/foundation/jsonencoder/outputformatting-swift.struct/sortedkeys
    public static let sortedKeys = OutputFormatting(rawValue: 2)
    /// https://developer.apple.com/documentation/foundation/jsonencoder/outputformatting-swift.struct/withoutescapingslashes
    public static let withoutEscapingSlashes = OutputFormatting(rawValue: 8)
  }
  /// https://developer.apple.com/documentation/foundation/jsonencoder/dateencodingstrategy-swift.enum
  public enum DateEncodingStrategy: Sendable {
    case deferredToDate, secondsSince1970, millisecondsSince1970, iso8601
    case formatted(DateFormatter)
    case custom(@Sendable (Date, any Encoder) throws -> Void)
  }
  /// https://developer.apple.com/documentation/foundation/jsonencoder/dataencodingstrategy-swift.enum
  public enum DataEncodingStrategy: Sendable {
    case deferredToData, base64
    case custom(@Sendable (Data, any Encoder) throws -> Void)
  }
  /// https://developer.apple.com/documentation/foundation/jsonencoder/nonconformingfloatencodingstrategy-swift.enum
  public enum NonConformingFloatEncodingStrategy: Sendable {
    case `throw`
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }
  /// https://developer.apple.com/documentation/foundation/jsonencoder/keyencodingstrategy-swift.enum
  public enum KeyEncodingStrategy: Sendable {
    case useDefaultKeys, convertToSnakeCase
    case custom(@Sendable (_ codingPath: [any CodingKey]) -> any CodingKey)
  }
  /// https://developer.apple.com/documentation/foundation/jsonencoder/outputformatting-swift.property
  open var outputFormatting: OutputFormatting = []
  /// https://developer.apple.com/documentation/foundation/jsonencoder/dateencodingstrategy-swift.property
  open var dateEncodingStrategy: DateEncodingStrategy = .deferredToDate
  /// https://developer.apple.com/documentation/foundation/jsonencoder/dataencodingstrategy-swift.property
  open var dataEncodingStrategy: DataEncodingStrategy = .base64
  /// https://developer.apple.com/documentation/foundation/jsonencoder/nonconformingfloatencodingstrategy-swift.property
  open var nonConformingFloatEncodingStrategy: NonConformingFloatEncodingStrategy = .throw
  /// https://developer.apple.com/documentation/foundation/jsonencoder/keyencodingstrategy-swift.property
  open var keyEncodingStrategy: KeyEncodingStrategy = .useDefaultKeys
  /// https://developer.apple.com/documentation/foundation/jsonencoder/userinfo
  open var userInfo: [CodingUserInfoKey: any Sendable] = [:]
  /// https://developer.apple.com/documentation/foundation/jsonencoder/init()
  public init() {}
  /// https://developer.apple.com/documentation/foundation/jsonencoder/encode(_:)
  open func encode<T: Encodable>(_ value: T) throws -> Data { fatalError() }
}
