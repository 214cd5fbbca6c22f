/// What a value is, as far as shapes tell values apart.
enum ShapeSubjectKind {
  case null, bool, integer, fraction, string, array, object
}
