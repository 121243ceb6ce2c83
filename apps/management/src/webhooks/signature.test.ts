import { webhookSecret } from "@harrier/contracts";
import { expect, test } from "vitest";
import { newSecret, signed } from "./signature.ts";

test("the signature is that of the specification's example", () => {
  const message = { id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at: 1_614_265_330_000, body: '{"test": 2432232314}' };
  expect(signed("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", message)).toEqual({
    "webhook-id": message.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("a new secret is one that may be given", () => {
  expect(webhookSecret.safeParse(newSecret()).success).toBe(true);
  for (const wrong of ["whsec_", "secret", `whsec_${Buffer.alloc(23).toString("base64")}`, `whsec_${Buffer.alloc(65).toString("base64")}`])
    expect(webhookSecret.safeParse(wrong).success).toBe(false);
});
