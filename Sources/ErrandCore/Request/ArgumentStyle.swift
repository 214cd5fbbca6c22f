/// The text form of arguments, where a query, a form or JSON allows several forms.
public struct ArgumentStyle: Sendable, Hashable {
  /// The form of several values in a query or form.
  public enum Arrays: Sendable, Hashable {
    /// `a=1&a=2`.
    case repeated
    /// `a[]=1&a[]=2`.
    case brackets
    /// `a[0]=1&a[1]=2`.
    case indexed
    /// `a=1,2`. A comma inside a value is escaped. An empty list writes nothing.
    case commas
  }

  /// The form of named values in a query or form.
  public enum Objects: Sendable, Hashable {
    /// `a[b]=1`.
    case brackets
    /// `a.b=1`.
    case dots
  }

  /// The form of Boolean values in a query or form. JSON always has `true` and `false`.
  public enum Booleans: Sendable, Hashable {
    /// `true` and `false`.
    case words
    /// `1` and `0`.
    case digits
  }

  /// The form of dates, also in JSON.
  public enum Dates: Sendable, Hashable {
    /// `2026-01-31T12:00:00Z` (RFC 3339), with a fraction of a second if the date has one.
    case iso8601
    /// Whole seconds since 1970.
    case seconds
    /// Whole milliseconds since 1970.
    case milliseconds
  }

  /// The form of null in a query or form.
  public enum Nulls: Sendable, Hashable {
    /// `a=`.
    case empty
    /// The argument is left out.
    case omitted
    /// `a=null`.
    case word
  }

  /// The form of a space in a query. In a form, a space is always `+`.
  public enum Spaces: Sendable, Hashable {
    /// `%20`.
    case percent
    /// `+`.
    case plus
  }

  /// True if the style of the family or the client applies. Changing a property of the style sets it to false.
  private(set) var isInherited = false

  /// The form of several values: repeated by default.
  public var arrays: Arrays { didSet { isInherited = false } }
  /// The form of named values: in brackets by default.
  public var objects: Objects { didSet { isInherited = false } }
  /// The form of Boolean values: words by default.
  public var booleans: Booleans { didSet { isInherited = false } }
  /// The form of dates: ISO 8601 by default.
  public var dates: Dates { didSet { isInherited = false } }
  /// The form of null: empty by default.
  public var nulls: Nulls { didSet { isInherited = false } }
  /// The form of spaces in a query: `%20` by default.
  public var spaces: Spaces { didSet { isInherited = false } }

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

  /// The style of the family or the client.
  public static let inherited = {
    var style = ArgumentStyle()
    style.isInherited = true
    return style
  }()

  /// Returns this style, or `other` if this style is inherited.
  func filled(by other: ArgumentStyle?) -> ArgumentStyle { isInherited ? other ?? self : self }
}
