/// A value that JSON cannot hold, before it is known where it stands.
struct JSONUnwritable: Error {
  let value: any Sendable
  let reason: String
}
