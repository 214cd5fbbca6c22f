import Foundation

/// The strategies of a `JSONEncoder`, read once.
struct JSONEncodingRules: Sendable {
  let dates: JSONEncoder.DateEncodingStrategy
  let data: JSONEncoder.DataEncodingStrategy
  let keys: JSONEncoder.KeyEncodingStrategy
  let floats: JSONEncoder.NonConformingFloatEncodingStrategy
  let userInfo: [CodingUserInfoKey: any Sendable]
  let sortsAll: Bool
  let keepsKeys: Bool

  init(of encoder: JSONEncoder) {
    dates = encoder.dateEncodingStrategy
    data = encoder.dataEncodingStrategy
    keys = encoder.keyEncodingStrategy
    floats = encoder.nonConformingFloatEncodingStrategy
    userInfo = encoder.userInfo
    sortsAll = encoder.outputFormatting.contains(.sortedKeys)
    if case .useDefaultKeys = keys { keepsKeys = true } else { keepsKeys = false }
  }
}
