import ErrandJSON
import Foundation

/// Makes the bytes of a body, the client's common arguments merged into forms and JSON objects.
struct BodyBuilder {
  typealias Body = (data: Data, contentType: String)

  let style: ArgumentStyle
  let encoding: JSONEncoding
  let common: (@Sendable () -> Arguments)?

  func data(of body: RequestBody) throws(APIError) -> Body {
    switch body.content {
    case .bytes(let data): return (data, body.contentType)
    case .form(let arguments): return try form(arguments)
    case .json(let encode):
      do {
        return (try withCommon(try encode(encoding)), body.contentType)
      } catch {
        if let error = error as? APIError { throw error }
        throw .build(.invalidBody, APIError.sentence("the body could not be written as JSON: \(error)"), cause: error)
      }
    }
  }

  func form(_ arguments: Arguments) throws(APIError) -> Body {
    var out: [UInt8] = []
    do {
      try ArgumentWriter(style: style).appendPairs(merged(arguments), to: &out, asForm: true)
    } catch {
      throw URLBuilder.unwritable(error)
    }
    return (Data(out), "application/x-www-form-urlencoded")
  }

  /// A form, or no body where there is nothing to write.
  func formUnlessEmpty(_ arguments: Arguments) throws(APIError) -> Body? {
    let arguments = merged(arguments)
    return arguments.isEmpty ? nil : try BodyBuilder(style: style, encoding: encoding, common: nil).form(arguments)
  }

  func json(_ arguments: Arguments) throws(APIError) -> Body {
    let value: JSONValue
    do {
      value = try ArgumentWriter(style: style).json(merged(arguments))
    } catch {
      throw URLBuilder.unwritable(error)
    }
    do {
      return (try value.serialized(), "application/json")
    } catch {
      throw .build(.invalidBody, APIError.sentence("the body could not be written as JSON: \(error)"), cause: error)
    }
  }

  private func merged(_ arguments: Arguments) -> Arguments {
    arguments.merged(over: common?() ?? Arguments())
  }

  private func withCommon(_ data: Data) throws -> Data {
    guard let common = common?(), !common.isEmpty else { return data }
    let object: [String: JSONValue]
    do {
      guard let value = try ArgumentWriter(style: style).json(common).objectValue else { return data }
      object = value
    } catch {
      throw URLBuilder.unwritable(error)
    }
    do {
      return try JSONEncoding.merge(object, into: data)
    } catch JSONError.notAnObject(let found) {
      throw APIError.build(
        .invalidBody,
        "The client's common body arguments need a JSON object to go into, but this body is \(found); "
          + "send an object, or the JSON as bytes.")
    }
  }
}
