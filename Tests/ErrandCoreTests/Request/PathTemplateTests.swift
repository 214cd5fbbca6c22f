import ErrandCore
import Testing

struct PathTemplateTests {
  @Test func `literal is its own template`() {
    let path: RequestPath = "/notes"
    #expect(path.template == "/notes")
  }

  @Test func `variables become numbered placeholders`() {
    let (user, file) = (7, "a/b {c}")
    let path: RequestPath = "/users/\(user)/files/\(file).txt"
    #expect(path.text == "/users/7/files/a%2Fb%20%7Bc%7D.txt")
    #expect(path.template == "/users/{1}/files/{2}.txt")
  }

  @Test func `named variable has its name`() {
    let path: RequestPath = "/users/\(7, name: "id")/\("x")"
    #expect(path.text == "/users/7/x")
    #expect(path.template == "/users/{id}/{2}")
  }

  @Test func `several segments are one placeholder`() {
    let path: RequestPath = "/files/\(segments: "a/b/c")"
    #expect(path.template == "/files/{1}")
  }

  @Test func `a list is one placeholder`() {
    let path: RequestPath = "/files/\(list: [1, 2])/\(3)"
    #expect(path.template == "/files/{1}/{2}")
  }

  @Test func `template has no query`() {
    let path: RequestPath = "/notes/\(7)?page=\(2)"
    #expect(path.template == "/notes/{1}")
    #expect(("/notes?sort=name" as RequestPath).template == "/notes")
  }

  @Test func `path from a string has no template`() {
    let text = "/notes/7"
    #expect(RequestPath(text).template == nil)
  }

  @Test func `template does not affect equality`() {
    let text = "/notes/7"
    let path: RequestPath = "/notes/\(7)"
    #expect(path == RequestPath(text))
    #expect(path.hashValue == RequestPath(text).hashValue)
  }
}
