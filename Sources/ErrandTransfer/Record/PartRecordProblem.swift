/// Why there is no record to go on from. The part is then started over.
package enum PartRecordProblem: Error, Sendable, Hashable {
  /// There is none.
  case missing
  /// Longer than a record ever is.
  case tooLarge
  /// Not one of ours: no JSON object with a checksum at its end.
  case foreign
  /// One of ours, but its bytes are not those that were written, or say what cannot be.
  case damaged
  /// The part is shorter than its record says.
  case shortPart
  /// Of a version that was before this one.
  case older(Int)
  /// Of a version to come.
  case newer(Int)
}

extension PartRecordProblem: CustomStringConvertible {
  /// A clause.
  package var description: String {
    switch self {
    case .missing: "there is no record of it"
    case .tooLarge: "its record is too long"
    case .foreign: "what lies in its record's place is none"
    case .damaged: "its record is damaged"
    case .shortPart: "it is shorter than its record says"
    case .older(let format): "its record has the old format \(format)"
    case .newer(let format): "its record has the format \(format) of a later version"
    }
  }
}
