import ErrandCore
@testable import ErrandTransfer

/// Names of files that servers choose.
enum NameTargets {
  static func contentDisposition(_ input: FuzzInput) {
    let fields = HTTPFields([HTTPField("Content-Disposition", input.text)])
    guard let name = FileName.of(fields) else { return }
    checkSafe(name)
  }

  static func fileName(_ input: FuzzInput) {
    if let name = FileName.safe(input.text) { checkSafe(name) }
    if let url = try? HTTPURL("http://h/" + input.text), let name = FileName.of(url) { checkSafe(name) }
  }

  private static func checkSafe(_ name: String) {
    let bytes = name.utf8
    check(!bytes.isEmpty && bytes.count <= FileName.limit, "a name fits a file system")
    check(
      !bytes.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x2F || $0 == 0x5C || $0 == 0x3A }, "a name is one component")
    check(bytes.first != 0x2E && bytes.last != 0x2E, "a name is not hidden and not cut")
    check(FileName.safe(name) == name, "a safe name stays as it is")
  }
}
