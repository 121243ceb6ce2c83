import { describe, expect, it } from "vitest";
import { targetOf } from "./channel.ts";

describe("targetOf", () => {
  it.each([
    ["127.0.0.1:1", "ipv4:127.0.0.1:1"],
    ["127.0.0.1:1, 127.0.0.1:2", "ipv4:127.0.0.1:1,127.0.0.1:2"],
    ["localhost:1,127.0.0.1:2", "ipv4:127.0.0.1:1,127.0.0.1:2"],
    ["[::1]:1", "ipv6:[::1]:1"],
    ["controller.harrier.svc:9000", "dns:///controller.harrier.svc:9000"],
  ])("%s -> %s", (addresses, target) => {
    expect(targetOf(addresses)).toBe(target);
  });

  it.each(["", "controller", "a:1,b:2", "127.0.0.1:1,b:2"])("refuses %j", (addresses) => {
    expect(() => targetOf(addresses)).toThrow("gRPC address");
  });
});
