import ErrandCore

/// The fields that tell a file's version.
struct RangeValidatorFields {
  /// The entity tag; a weak one with its mark.
  let entityTag: String?
  /// When the file was last changed: a day that follows from its seed, so that it stays while the file does.
  let lastModified: String?
  /// The date of the answer.
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

  /// Puts them into a head.
  func add(to headers: inout LoopbackHeaders) {
    headers["ETag"] = entityTag
    headers["Last-Modified"] = lastModified
    headers["Date"] = date
  }
}
