import Errand
import ErrandTesting
import Foundation

/// One visit to the album, from the first launch to an upload.
@MainActor
struct AlbumStory {
  let server: AlbumServer
  let client: APIClient
  /// The client's clock; the story advances it by three minutes at once.
  private let clock = ManualClock()
  private let folder = FileManager.default.temporaryDirectory.appending(path: "errand-album-\(UUID().uuidString)")

  init() throws {
    server = try AlbumServer()
    client = AlbumClient.make(api: server.api.url, cdn: server.cdn.url, timers: clock)
  }

  func tell() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let id = try await register()
    try await lookUp(id)
    try await download()
    try await fillPage(of: id)
    try await signUp()
    try await upload()
  }

  // MARK: - Register, behind a URL filter

  func register() async throws -> Int {
    heading("Register")
    let account = try await client.send(Register(name: "ada", password: "fern"))
    print("ada has number \(account.id)")
    print("the URL contains the app's version: \(server.api.requests.last?.target ?? "")")
    let again = await client.outcome(of: Register(name: "ada", password: "moss"))
    print("a second ada: \(again.error?.body(as: Problem.self)?.message ?? "no error")")
    return account.id
  }

  // MARK: - User info: cached for three minutes, checked by its shape

  func lookUp(_ id: Int) async throws {
    heading("User info")
    try await show(GetUserInfo(id: id), "first")
    try await show(GetUserInfo(id: id), "again")
    clock.advance(by: .seconds(181))
    try await show(GetUserInfo(id: id), "three minutes later")
    try await show(GetUserInfo(id: id), "pull to refresh", .cache(.ignoringCache))
    let odd = await client.outcome(of: GetUserInfo(id: 9))
    print("bad level: \(odd.error?.message ?? "no error")")
  }

  private func show(_ request: GetUserInfo, _ when: String, _ options: CallOptions = CallOptions()) async throws {
    let info = try await client.response(request, options: options)
    print("\(when): \(info.value.name) has level \(info.value.level), from \(info.origin)")
  }

  // MARK: - A large picture of the CDN, resumed

  func download() async throws {
    heading("A picture from the CDN")
    let request = DownloadImage(name: "meadow.png", file: folder.appending(path: "meadow.png"))
    let broken = await client.outcome(of: request)
    let left = try InterruptedDownload.all(in: folder)
    print("truncated: \(broken.error?.transportKind == .truncated), with \(left.first?.bytes ?? 0) bytes on the disk")
    let picture = try await client.send(request)
    print("then complete: \(picture.bytes) bytes, of which \(picture.keptBytes) were fetched before")
  }

  // MARK: - Four at once

  func fillPage(of id: Int) async throws {
    heading("Four at once")
    let (states, state) = AsyncStream.makeStream(of: Bool.self)
    var options = GroupOptions()
    options.indicator = .named("page")
    // The spinner stays for half a second of the story's clock, so it appears even if the responses arrive at once.
    let spinner = LoadingIndicator(name: "page", delay: .zero, minimum: .milliseconds(500), timers: clock) {
      state.yield($0)
    }
    client.configure { $0.accessories = [spinner] }
    defer { client.configure { $0.accessories = [] } }

    let (info, fern, moss, reed) = try await client.batch(
      GetUserInfo(id: id), GetImage(name: "fern.png"), GetImage(name: "moss.png"), GetImage(name: "reed.png"),
      options: options)
    print("\(info.name)'s pictures have \(fern.count), \(moss.count) and \(reed.count) bytes")
    for await isShown in states.prefix(2) {
      print(isShown ? "one spinner appeared for all" : "and disappeared")
      if isShown { clock.advance(by: .milliseconds(500)) }
    }

    do {
      _ = try await client.batch(GetImage(name: "fern.png"), GetImage(name: "lost.png"))
    } catch {
      let member = error.members.first
      print("with a missing picture: member \(member?.index ?? -1), \(member?.name ?? ""), \(error.status ?? 0)")
    }
  }

  // MARK: - A chain with branches

  func signUp() async throws {
    heading("A chain")
    let signUp = Chain("sign up") { chain in
      let account = try await chain.send(Register(name: "grace", password: "reed"))
      let info = try await chain.send(GetUserInfo(id: account.id))
      async let avatar = chain.send(GetImage(name: info.avatar))
      async let friends = chain.send(GetFriends(id: account.id))
      return try await chain.send(
        GetGreeting(name: info.name, friends: friends.count, avatarBytes: avatar.count))
    }
    let outcome = await client.outcome(of: signUp)
    print("\(outcome.report.calls) steps: \(outcome.value ?? outcome.error?.message ?? "")")
    print("the last step uses the results of the others: \(server.api.requests.last?.target ?? "")")
    let again = await client.outcome(of: signUp)
    print("started again: step \(again.error?.members.first?.name ?? "none") failed, and nothing was sent after it")
  }

  // MARK: - An upload with progress

  func upload() async throws {
    heading("An upload")
    let photo = folder.appending(path: "cat.jpg")
    try Data(AlbumServer.bytes(of: "meadow.png")).write(to: photo)
    let (ends, end) = AsyncStream.makeStream(of: Result<AddPhoto.Response, APIError>.self)
    var told: [TransferProgress] = []
    client.start(AddPhoto(title: "Mimi & 猫", photo: photo)) { added in
      end.yield(.success(added))
    } onFailure: { error in
      end.yield(.failure(error))
    } onProgress: { progress in
      if progress.direction == .upload { told.append(progress) }
    }
    for await ended in ends.prefix(1) {
      let added = try ended.get()
      let isWhole = told.last.map { $0.bytes == $0.total && Int($0.bytes) == added.bytes } ?? false
      print("photo \(added.number) is stored")
      print("the last progress report covers every byte: \(isWhole)")
    }
  }

  private func heading(_ text: String) { print("\n\(text)") }
}
