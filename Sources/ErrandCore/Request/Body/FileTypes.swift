import Foundation

/// The media types of common files, by extension (IANA's registry).
enum FileTypes {
  /// The type of a file; bytes of no known kind where its extension says nothing.
  static func type(of url: URL) -> String { known[url.pathExtension.lowercased()] ?? "application/octet-stream" }

  private static let known: [String: String] = [
    "avif": "image/avif", "bmp": "image/bmp", "gif": "image/gif", "heic": "image/heic", "jpeg": "image/jpeg",
    "jpg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml", "tif": "image/tiff", "tiff": "image/tiff",
    "webp": "image/webp",
    "aac": "audio/aac", "flac": "audio/flac", "m4a": "audio/mp4", "mp3": "audio/mpeg", "ogg": "audio/ogg",
    "wav": "audio/vnd.wave",
    "mov": "video/quicktime", "mp4": "video/mp4", "mpeg": "video/mpeg", "webm": "video/webm",
    "css": "text/css", "csv": "text/csv", "htm": "text/html", "html": "text/html", "js": "text/javascript",
    "md": "text/markdown", "txt": "text/plain", "xml": "application/xml",
    "gz": "application/gzip", "json": "application/json", "pdf": "application/pdf", "tar": "application/x-tar",
    "wasm": "application/wasm", "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip",
    "zst": "application/zstd",
  ]
}
