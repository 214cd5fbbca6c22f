/// How arguments are written where a format leaves a choice.
public struct ArgumentStyle: Sendable, Hashable {
  /// How a query or form shows several values.
  public enum Arrays: Sendable, Hashable {
    /// `a=1&a=2`.
    case repeated
    /// `a[]=1&a[]=2`.
    case brackets
    /// `a[0]=1&a[1]=2`.
    case indexed
    /// `a=1,2`; a comma inside a value is escaped. Of an empty list nothing is written.
    case commas
  }

  /// How a query or form shows named values.
  public enum Objects: Sendable, Hashable {
    /// `a[b]=1`.
    case brackets
    /// `a.b=1`.
    case dots
  }

  /// How a query or form shows truth values. JSON always says `true` and `false`.
  public enum Booleans: Sendable, Hashable {
    /// `true` and `false`.
    case words
    /// `1` and `0`.
    case digits
  }

  /// How a moment is written, in JSON too.
  public enum Dates: Sendable, Hashable {
    /// `2026-01-31T12:00:00Z` (RFC 3339), with a fraction where there is one.
    case iso8601
    /// Whole seconds since 1970.
    case seconds
    /// Whole milliseconds since 1970.
    case milliseconds
  }

  /// How a query or form shows null.
  public enum Nulls: Sendable, Hashable {
    /// `a=`.
    case empty
    /// Not at all.
    case omitted
    /// `a=null`.
    case word
  }

  /// How a query writes a space. A form always writes `+`.
  public enum Spaces: Sendable, Hashable {
    /// `%20`.
    case percent
    /// `+`.
    case plus
  }

  /// Several values: repeated where nothing is said.
  public var arrays: Arrays
  /// Named values: in brackets where nothing is said.
  public var objects: Objects
  /// Truth values: words where nothing is said.
  public var booleans: Booleans
  /// Moments: ISO 8601 where nothing is said.
  public var dates: Dates
  /// Null: empty where nothing is said.
  public var nulls: Nulls
  /// Spaces in a query: `%20` where nothing is said.
  public var spaces: Spaces

  /// Makes a style.
  public init(
    arrays: Arrays = .repeated, objects: Objects = .brackets, booleans: Booleans = .words, dates: Dates = .iso8601,
    nulls: Nulls = .empty, spaces: Spaces = .percent
  ) {
    self.arrays = arrays
    self.objects = objects
    self.booleans = booleans
    self.dates = dates
    self.nulls = nulls
    self.spaces = spaces
  }
}
