import Errand
import ErrandTesting
@testable import ExampleAlbum
import Foundation
import TestSupport
import Testing

struct AlbumTests {
  @Test func `program prints its story`() async throws {
    let run = try await BuiltProgram("ExampleAlbum").run()
    #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
    #expect(
      run.text == """

        Register
        ada has number 1
        the URL contains the app's version: /accounts?version=1.4.0
        a second ada: The name is taken.

        User info
        first: Ada has level 1, from network
        again: Ada has level 1, from cacheFresh
        three minutes later: Ada has level 2, from network
        pull to refresh: Ada has level 3, from network
        bad level: The JSON does not have the declared shape: $.level: expected an integer, found the string "nine".

        A picture from the CDN
        truncated: true, with 150000 bytes on the disk
        then complete: 400000 bytes, of which 150000 were fetched before

        Four at once
        Ada's pictures have 12000, 8000 and 4000 bytes
        one spinner appeared for all
        and disappeared
        with a missing picture: member 1, GetImage, 404

        A chain
        5 steps: Welcome to the album!
        the last step uses the results of the others: /greeting?name=Ada&friends=3&bytes=12000&version=1.4.0
        started again: step Register failed, and nothing was sent after it

        An upload
        photo 1 is stored
        the last progress report covers every byte: true

        """)
  }

  private let server: AlbumServer
  private let client: APIClient
  private let clock = ManualClock()

  init() throws {
    server = try AlbumServer()
    client = AlbumClient.make(api: server.api.url, cdn: server.cdn.url, timers: clock)
  }

  @Test func `POST arguments become a form`() async throws {
    _ = try await client.send(Register(name: "ada & 猫", password: "a=b"))
    let request = try #require(server.api.requests.first)
    #expect(request.headers["Content-Type"]?.hasPrefix("application/x-www-form-urlencoded") == true)
    #expect(try FormValues(parsing: Data(request.body))["name"] == "ada & 猫")
    #expect(try FormValues(parsing: Data(request.body))["password"] == "a=b")
    #expect(request.query == "version=1.4.0")
  }

  @Test func `taken name is a typed error`() async throws {
    _ = try await client.send(Register(name: "ada", password: "1"))
    let error = try #require(await client.outcome(of: Register(name: "ada", password: "2")).error)
    #expect(error.status == 409 && error.body(as: Problem.self)?.message == "The name is taken.")
    #expect(server.api.requests.count == 2)
  }

  @Test func `user info is cached three minutes`() async throws {
    #expect(try await client.response(GetUserInfo(id: 7)).origin == .network)
    clock.advance(by: .seconds(179))
    #expect(try await client.response(GetUserInfo(id: 7)).origin == .cacheFresh)
    clock.advance(by: .seconds(2))
    #expect(try await client.response(GetUserInfo(id: 7)).origin == .network)
    #expect(server.infosServed == 2)
  }

  @Test func `wrong shape names its path`() async throws {
    let error = try #require(await client.outcome(of: GetUserInfo(id: 9)).error)
    #expect(error.code == .shape && error.message.contains("$.level"))
    // A rejected response must not be stored.
    _ = await client.outcome(of: GetUserInfo(id: 9))
    #expect(server.api.requests.count == 2)
  }

  @Test func `images come from the CDN`() async throws {
    let bytes = try await client.send(GetImage(name: "moss.png"))
    #expect(Array(bytes) == AlbumServer.bytes(of: "moss.png"))
    #expect(server.api.requests.isEmpty)
    #expect(server.cdn.requests.map(\.target) == ["/images/moss.png?version=1.4.0"])
  }

  @Test func `interrupted image download resumes`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "errand-album-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let request = DownloadImage(name: "meadow.png", file: folder.appending(path: "meadow.png"))
    let error = try #require(await client.outcome(of: request).error)
    #expect(error.transportKind == .truncated)
    #expect(!FileManager.default.fileExists(atPath: request.file.path))
    #expect(try await client.send(request).keptBytes == Int64(AlbumServer.firstCut))
    #expect(Array(try Data(contentsOf: request.file)) == AlbumServer.bytes(of: "meadow.png"))
    #expect(server.cdn.requests.map { $0.headers["Range"] } == [nil, "bytes=\(AlbumServer.firstCut)-"])
    #expect(server.cdn.requests.last?.headers["If-Range"] == "\"meadow.png-1\"")
  }

  @Test func `missing image fails the whole batch`() async throws {
    do {
      _ = try await client.batch(GetImage(name: "fern.png"), GetImage(name: "lost.png"))
      Issue.record("the batch should fail")
    } catch {
      #expect(error.status == 404 && error.members.first?.name == "GetImage" && error.members.first?.index == 1)
    }
    #expect(server.cdn.requests.contains { $0.path == "/images/lost.png" })
  }

  @Test func `photo is uploaded with its title`() async throws {
    let photo = FileManager.default.temporaryDirectory.appending(path: "errand-album-\(UUID().uuidString).jpg")
    let bytes = Data(AlbumServer.bytes(of: "moss.png"))
    try bytes.write(to: photo)
    defer { try? FileManager.default.removeItem(at: photo) }
    let added = try await client.send(AddPhoto(title: "Mimi & 猫", photo: photo))
    let request = try #require(server.api.requests.first)
    #expect(added.bytes == request.body.count)
    #expect(Data(request.body).range(of: bytes) != nil)
    #expect(request.bodyText.contains("\r\n\r\nMimi & 猫\r\n"))
  }

  @Test func `missing photo sends nothing`() async throws {
    let gone = FileManager.default.temporaryDirectory.appending(path: "errand-album-\(UUID().uuidString).jpg")
    let error = try #require(await client.outcome(of: AddPhoto(title: "gone", photo: gone)).error)
    #expect(error.code == .invalidBody && error.message.contains(gone.lastPathComponent))
    #expect(server.api.connectionCount == 0)
  }
}
