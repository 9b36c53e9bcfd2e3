import Testing

@testable import HaulCore

@Suite("Boxed values")
struct BoxedTests {
    private struct Holder: Hashable {
        @Boxed var text = ["a"]
    }

    @Test("a copy keeps its value when the other changes")
    func copies() {
        let first = Holder()
        var second = first
        second.text.append("b")
        #expect(first.text == ["a"])
        #expect(second.text == ["a", "b"])
    }

    @Test("what counts is the value, not the box")
    func equality() {
        var changed = Holder()
        changed.text = ["b"]
        #expect(Holder() == Holder())
        #expect(Holder().hashValue == Holder().hashValue)
        #expect(changed != Holder())
    }
}
