// Downloads into files: declared, resumed, verified, paused, queued, listed.
import Errand
import ErrandChecksum
import ErrandTesting
import Foundation

// snippet.declared
struct GetFilm: APIRequest {
  let id: Int
  let file: URL
  var path: Path { "/films/\(id).mp4" }
  var download: Download? { .to(file) }
  typealias Response = DownloadedFile
}
// snippet.end

let server = try LoopbackServer { request in
  .generated(count: 100_000).setting("ETag", to: "\"v1\"")
}
let client = APIClient(baseURL: server.url)
let folder = FileManager.default.temporaryDirectory.appending(path: "errand-snippet-\(UUID().uuidString)")
try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(at: folder) }
let file = folder.appending(path: "7.mp4")

// snippet.send
let film = try await client.send(GetFilm(id: 7, file: file))
print(film.url, film.bytes, "of which", film.keptBytes, "were fetched before")
// snippet.end

// snippet.folder
let image = try await client.send(FileDownload("/images/disk.iso", .into(folder)))
print(image.url.lastPathComponent)  // disk.iso
// snippet.end

let expected = String(repeating: "0", count: 64)
// snippet.existing
struct GetBook: APIRequest {
  let path: Path
  let download: Download?
  typealias Response = DownloadedFile

  init(id: Int, sha256: String, file: URL) throws(APIError) {
    path = "/books/\(id).epub"
    var choices = Download.to(file)
    choices.checksum = try Checksum.sha256(sha256)
    choices.acceptsExisting = true
    download = choices
  }
}
// snippet.end
_ = try GetBook(id: 1, sha256: expected, file: file)

// snippet.checksum
var careful = Download.to(file)
careful.checksum = try Checksum.sha256(expected)
careful.digests = .standard  // Repr-Digest and Content-Digest, if the server sends them
let outcome = await client.outcome(of: FileDownload("/films/7.mp4", careful))
if outcome.error?.code == .checksumMismatch { print("damaged, and deleted") }
// snippet.end

// snippet.pause
let download = client.download(GetFilm(id: 8, file: folder.appending(path: "8.mp4")))
await download.pause()  // the part is on the disk now
download.resume()
let eighth = try await download.value()
// snippet.end
print(eighth.bytes)

// snippet.progress
let ninth = client.download(GetFilm(id: 9, file: folder.appending(path: "9.mp4")))
for await progress in ninth.progress {
  let rate = progress.rate.map { "\(Int($0)) bytes/s" } ?? "…"
  print(progress.bytes, "of", progress.total ?? 0, rate, progress.timeLeft ?? .zero)
}
_ = try await ninth.value()
// snippet.end

// snippet.queue
let queue = DownloadQueue(client, width: 2)
let films = (10...14).map { id in
  queue.add(GetFilm(id: id, file: folder.appending(path: "\(id).mp4")))
}
for await progress in queue.progress {
  print(progress.finished, "of", progress.total, "files,", progress.bytes, "bytes")
}
for film in films { print(try await film.value().url) }
// snippet.end

// snippet.interrupted
for left in try InterruptedDownload.all(in: folder) {
  print(left.file, left.bytes, "of", left.total ?? 0, "since", left.updated)
  let whole = try await client.send(left.request(checkedBy: .standard))  // or: try await left.remove()
  print(whole.url)
}
// snippet.end

func signedLink(for film: Int) async throws -> String { server.url + "/films/\(film).mp4?signature=2" }

// snippet.signed
var signed = Download.to(folder.appending(path: "15.mp4"))
signed.resource = "film 15"
signed.freshURL = { refused in
  print("refused with", refused.status)
  return try await signedLink(for: 15)
}
_ = try await client.send(FileDownload(server.url + "/films/15.mp4?signature=1", signed))
// snippet.end

// snippet.choices
var choices = Download.into(folder, named: .fromServer)
choices.replaces = true
choices.whenBusy = .wait
choices.parallel = 4
choices.bytesPerSecond = 2 << 20
choices.maximumBytes = 4 << 30
choices.permissions = 0o600
// snippet.end
_ = choices

// snippet.bandwidth
let line = Bandwidth(bytesPerSecond: 4 << 20)
let shared = DownloadQueue(client, width: 3)
for id in [18, 19, 20] {
  var choices = Download.into(folder)
  choices.bandwidth = line
  shared.add(FileDownload("/films/\(id).mp4", choices))
}
// snippet.end
for film in shared.downloads { _ = try await film.value() }
