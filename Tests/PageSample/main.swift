// Makes pages and archives for Scripts/page.py.
//
//   PageSample record      prints the archive of some calls to a server of this process
//   PageSample page        reads an archive from the standard input and prints its page
//   PageSample live        prints the address of a live page, and sends a call for each line of the standard input
import Errand
import ErrandRecord
import ErrandTesting
import Foundation

struct GetFeed: APIRequest {
  var path: Path { "/feed?page=2" }
  var cache: CachePolicy { .http }
  var retries: RetryPolicy { RetryPolicy(firstDelay: .milliseconds(5), busyDelay: .milliseconds(5)) }
  typealias Response = JSONValue
}

struct AddNote: APIRequest {
  let text: String
  var path: Path { "/notes" }
  var method: HTTPMethod { .post }
  var body: RequestBody? { .json(["text": text, "token": "s3cr3t-token"]) }
  typealias Response = JSONValue
}

struct GetImage: APIRequest {
  var path: Path { "/images/7" }
  typealias Response = Data
}

func archive() async throws -> Data {
  let server = try LoopbackServer { request in
    switch (request.path, request.number) {
    case ("/feed", 1): .status(503)
    case ("/feed", _): .json(#"{"news":["Tea is ready"]}"#).setting("Cache-Control", to: "max-age=60")
    case ("/notes", _): .json(#"{"id":7,"token":"s3cr3t-token"}"#)
    case ("/images/7", _): .redirect(to: "/images/8")
    default: .status(404)
    }
  }
  var configuration = ClientConfiguration(baseURL: server.url)
  configuration.record = .ring(calls: 50, detail: .addresses, bodyLimit: 4_096)
  let client = APIClient(configuration)
  for _ in 0..<2 { _ = await client.outcome(of: GetFeed()) }
  _ = await client.outcome(of: AddNote(text: "milk"), options: .tag("kitchen"))
  _ = await client.outcome(of: GetImage())
  return client.flightRecord.har()
}

func serveLive() async throws {
  let server = try LoopbackServer { _ in .json(#"{"id":7,"token":"s3cr3t-token"}"#) }
  var configuration = ClientConfiguration(baseURL: server.url)
  configuration.record = .ring(calls: 50, bodyLimit: 4_096)
  let client = APIClient(configuration)
  _ = await client.outcome(of: AddNote(text: "first"))
  let live = try await FlightLivePage(of: client.flightRecord)
  FileHandle.standardOutput.write(Data("\(live.url)\n".utf8))
  while let line = readLine() { _ = await client.outcome(of: AddNote(text: line)) }
  live.stop()
}

switch CommandLine.arguments.dropFirst().first {
case "record": FileHandle.standardOutput.write(try await archive())
case "page":
  let page = try FlightPage(archive: FileHandle.standardInput.readDataToEndOfFile())
  FileHandle.standardOutput.write(page.html)
case "live": try await serveLive()
default: FileHandle.standardError.write(Data("usage: PageSample record|page|live\n".utf8))
}
