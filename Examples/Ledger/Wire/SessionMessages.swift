import Errand
import ErrandCore
import Foundation

/// `message Login { string user = 1; string password = 2; }`
struct LoginMessage: WireMessage {
  var user = ""
  var password = ""

  init(user: String, password: String) { (self.user, self.password) = (user, password) }

  init(wire bytes: Data) throws {
    var reader = WireReader(bytes)
    while let (field, value) = try reader.next() {
      if field == 1 { user = value.text }
      if field == 2 { password = value.text }
    }
  }

  func wire() throws -> Data {
    var writer = WireWriter()
    writer.text(1, user)
    writer.text(2, password)
    return writer.bytes
  }
}

/// `message Session { string token = 1; string branch = 2; }`
struct SessionMessage: WireMessage {
  var token = ""
  var branch = ""

  init(token: String, branch: String) { (self.token, self.branch) = (token, branch) }

  init(wire bytes: Data) throws {
    var reader = WireReader(bytes)
    while let (field, value) = try reader.next() {
      if field == 1 { token = value.text }
      if field == 2 { branch = value.text }
    }
  }

  func wire() throws -> Data {
    var writer = WireWriter()
    writer.text(1, token)
    writer.text(2, branch)
    return writer.bytes
  }
}

/// `message Refusal { string words = 1; }`: the server's error message.
struct RefusalMessage: WireMessage {
  var words = ""

  init(_ words: String) { self.words = words }

  init(wire bytes: Data) throws {
    var reader = WireReader(bytes)
    while let (field, value) = try reader.next() {
      if field == 1 { words = value.text }
    }
  }

  func wire() throws -> Data {
    var writer = WireWriter()
    writer.text(1, words)
    return writer.bytes
  }
}
