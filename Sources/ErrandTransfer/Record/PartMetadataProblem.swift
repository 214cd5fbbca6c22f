/// The reason why a partial file has no usable metadata record. In each case the download starts over.
package enum PartMetadataProblem: Error, Sendable, Hashable {
  /// The partial file has no metadata record.
  case missing
  /// The metadata record is longer than ``PartMetadata/limit``.
  case tooLarge
  /// The file at the path of the metadata record is not a record: it is no JSON object with a checksum at its end.
  case foreign
  /// This library wrote the metadata record, but the bytes of the record have changed or its values are invalid.
  case damaged
  /// The partial file is shorter than its metadata record states.
  case shortPart
  /// The metadata record has the format of an earlier version of this library.
  case older(Int)
  /// The metadata record has the format of a later version of this library.
  case newer(Int)
}

extension PartMetadataProblem: CustomStringConvertible {
  /// The reason as a clause without a full stop, for use in messages.
  package var description: String {
    switch self {
    case .missing: "the partial file has no metadata record"
    case .tooLarge: "the metadata record of the partial file is too long"
    case .foreign: "the file at the path of the metadata record is not a record"
    case .damaged: "the metadata record of the partial file is damaged"
    case .shortPart: "the partial file is shorter than its metadata record states"
    case .older(let format): "the metadata record of the partial file has the old format \(format)"
    case .newer(let format): "the metadata record of the partial file has the format \(format) of a later version"
    }
  }
}
