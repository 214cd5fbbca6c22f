import Errand
import ErrandTesting
import Foundation
import Testing

/// HTML pages, such as those of a login or a proxy, in place of JSON.
struct HTMLPageTests {
  struct User: Decodable, Sendable { let nick: String }

  private static let envelope = Envelope(value: "data", code: "code", message: "message")

  private func answer(_ body: String, type: String = "text/html; charset=utf-8") -> ScriptedAnswer {
    .data(Data(body.utf8), contentType: type)
  }

  private static let advice =
    "an HTML page, but JSON was expected; check the URL, and whether a login page or a proxy answered."
  private static let page = "<!DOCTYPE html>\n<html>\n  <head><title>Sign in</title>"
  private static let beginning = "The page begins with <!DOCTYPE html> <html> <head><title>Sign in</title>."

  @Test func `page in place of a value is named`() async {
    let error = await ScriptedClient(answers: [answer(Self.page)]).failure(of: Ask<User>())
    #expect(error?.stage == .decode && error?.code == .decoding)
    #expect(error?.message == "The server answered 200 with \(Self.advice) \(Self.beginning)")
  }

  @Test func `page in place of an envelope is named`() async {
    let error = await ScriptedClient(answers: [answer(Self.page)]).failure(of: Ask<User>(envelope: Self.envelope))
    #expect(error?.stage == .validate && error?.code == .notJSON)
    #expect(
      error?.message
        == "The server answered 200 with \(Self.advice) If this request expects HTML, declare `validation` as "
        + "`ResponseValidation(envelope: .none)`. \(Self.beginning)")
  }

  @Test func `page in place of a shape is named`() async {
    let error = await ScriptedClient(answers: [answer(Self.page)]).failure(of: Sending(shape: .any))
    #expect(error?.code == .notJSON)
    #expect(error?.message == "The server answered 200 with \(Self.advice) \(Self.beginning)")
  }

  @Test(arguments: [
    ("\u{FEFF}\n<HTML lang=\"en\">", "application/json", true), ("<br />\n<b>Fatal error</b>", "text/html", true),
    ("<!doctype HTML>", "text/plain", true), ("<user/>", "application/json", false),
    (#"{"nick":"A""#, "text/html", false), ("", "text/html", false),
  ])
  func `text tells pages from JSON`(body: String, type: String, isPage: Bool) async {
    let error = await ScriptedClient(answers: [answer(body, type: type)]).failure(of: Ask<User>())
    #expect(error?.code == .decoding && error?.message.contains(Self.advice) == isPage)
  }

  @Test func `long page is cut`() async {
    let body = "<html>" + String(repeating: "x", count: 5_000)
    let error = await ScriptedClient(answers: [answer(body)]).failure(of: Ask<User>())
    #expect(error?.message.hasSuffix("begins with <html>" + String(repeating: "x", count: 74) + "…") == true)
  }
}
