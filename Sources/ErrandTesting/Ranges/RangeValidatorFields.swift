import ErrandCore

/// The header fields with the validators of the file's version.
struct RangeValidatorFields {
  /// The entity tag; nil if the server sends none. A weak entity tag has the prefix `W/`.
  let entityTag: String?
  /// The date of the last change of the file; nil if the server does not send it. The date is computed from the file's
  /// seed, so a new version of the file has another date.
  let lastModified: String?
  /// The value of the field `Date` of the response; nil if the server does not send this field.
  let date: String?

  init(_ behaviour: RangeBehaviour) {
    let tag = behaviour.resource.entityTag
    let changed = Int64(behaviour.resource.seed % 10_000) * 86_400_000
    var seconds: Int?
    switch behaviour.validators {
    case .strongTag: entityTag = tag
    case .weakTag: entityTag = "W/\(tag)"
    case .lastModified(let distance):
      entityTag = nil
      seconds = distance
    case .both(let distance):
      entityTag = tag
      seconds = distance
    case .none: entityTag = nil
    }
    lastModified = seconds.map { _ in HTTPDate.text(milliseconds: changed) }
    date = seconds.map { HTTPDate.text(milliseconds: changed + Int64(clamping: $0) * 1_000) }
  }

  /// Adds the validator fields to header fields.
  func add(to headers: inout LoopbackHeaders) {
    headers["ETag"] = entityTag
    headers["Last-Modified"] = lastModified
    headers["Date"] = date
  }
}
