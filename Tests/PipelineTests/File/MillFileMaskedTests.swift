// The mill file as the dashboard shows it.
import Testing

@testable import Pipeline

@Suite struct MillFileMaskedTests {
    @Test func `no secret is in it, wherever it was written`() throws {
        let file = try MillFile(
            text: """
                # the old password was hunter0
                state: /var/lib/imagemill
                http: { address: 127.0.0.1:8080, token: /etc/imagemill/token }
                inboxes:
                  - path: in   # hunter1
                    outbox: out
                    pipeline: p.yaml
                    ignore: ["*.tmp", "a b"]
                    on-success: [/usr/local/bin/tell, --password=hunter2, hunter3]
                    on-failure: { webhook: "https://user:hunter4@example.org:8443/hooks/hunter5?key=hunter6", secret: key, timeout: 1m }
                    on-pause: { command: [mail, hunter7] }
                  - { path: b, outbox: o, pipeline: p.yaml, on-failure: { webhook: "http://example.org?hunter8" } }
                """, file: "mill.yaml")
        #expect(!file.masked.contains("hunter"), "\(file.masked)")
        #expect(
            file.masked == """
                state: /var/lib/imagemill
                http:
                  address: 127.0.0.1:8080
                  token: /etc/imagemill/token
                inboxes:
                  - path: in
                    outbox: out
                    pipeline: p.yaml
                    ignore:
                      - *.tmp
                      - a b
                    on-success: /usr/local/bin/tell ••• •••
                    on-failure:
                      webhook: https://example.org:8443/•••
                      secret: key
                      timeout: 1m
                    on-pause:
                      command: mail •••
                  - path: b
                    outbox: o
                    pipeline: p.yaml
                    on-failure:
                      webhook: http://example.org/•••

                """)
    }
}
