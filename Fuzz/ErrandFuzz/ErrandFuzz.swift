import CLibFuzzer
import Foundation

/// Throws bytes at one parser: `ErrandFuzz TARGET [options and folders of libFuzzer]`; without a target it lists them.
///
/// libFuzzer changes the bytes again and again and keeps those that reach new code. A trap, a broken property
/// (``check(_:_:)``), memory misuse or a hang ends the program with a file that holds the bytes.
@main enum ErrandFuzz {
  static func main() {
    guard let name = CommandLine.arguments.dropFirst().first, let target = FuzzTarget(rawValue: name) else {
      for target in FuzzTarget.allCases { print(target.rawValue) }
      return
    }
    chosen = target.body
    exit(run([CommandLine.arguments[0]] + CommandLine.arguments.dropFirst(2)))
  }

  // Written once, before the fuzzer starts.
  nonisolated(unsafe) private static var chosen: (FuzzInput) -> Void = { _ in }  // libFuzzer calls on one thread only

  private static func run(_ arguments: [String]) -> Int32 {
    var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    pointers.append(nil)
    var count = Int32(arguments.count)
    return pointers.withUnsafeMutableBufferPointer { buffer in
      var start = buffer.baseAddress
      return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
        ErrandFuzz.chosen(FuzzInput(UnsafeRawBufferPointer(start: bytes, count: count)))
        return 0
      }
    }
  }
}

/// A property that must hold for any input; ends the program where it does not.
func check(_ holds: Bool, _ sentence: @autoclosure () -> String) {
  if !holds { fatalError("property: \(sentence())") }
}
