import { describe, expect, it } from "vitest";
import { checkAddress } from "./address.ts";

describe("the address of a target (contract management.md §1.6)", () => {
  it.each([undefined, "", "http://10.0.0.1:80", "amqp://vhost/x", "https://[::1]:8443/a%20b?c=d#e", "coap+tcp://h", "relative/path"])(
    "%s",
    (address) => {
      expect(() => checkAddress(address)).not.toThrow();
    },
  );

  it.each(["not a uri %%", "http://h/a b", "http://h/%zz", "http://h:port", "http://ü", "http://[::1"])("%s is refused", (address) => {
    expect(() => checkAddress(address)).toThrow(expect.objectContaining({ code: "invalidTargetAddress" }));
  });
});
