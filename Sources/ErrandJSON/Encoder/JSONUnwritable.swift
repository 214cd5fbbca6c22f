/// The error for a value that JSON cannot represent. The coding path is added later.
struct JSONUnwritable: Error {
  let value: any Sendable
  let reason: String
}
