/// Why a partial file has no usable record. The download then starts over.
package enum PartRecordProblem: Error, Sendable, Hashable {
  /// There is no record.
  case missing
  /// The record is longer than the limit.
  case tooLarge
  /// The file is not a record: no JSON object with a checksum at its end.
  case foreign
  /// The record was written by this library, but its bytes have changed or its values are invalid.
  case damaged
  /// The partial file is shorter than its record states.
  case shortPart
  /// The record has the format of an earlier version.
  case older(Int)
  /// The record has the format of a later version.
  case newer(Int)
}

extension PartRecordProblem: CustomStringConvertible {
  /// The reason as a clause.
  package var description: String {
    switch self {
    case .missing: "it has no record"
    case .tooLarge: "its record is too long"
    case .foreign: "the file in place of its record is not a record"
    case .damaged: "its record is damaged"
    case .shortPart: "it is shorter than its record states"
    case .older(let format): "its record has the old format \(format)"
    case .newer(let format): "its record has the format \(format) of a later version"
    }
  }
}
