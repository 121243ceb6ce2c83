import { expect, test } from "vitest";
import { hashPassword, verifyPassword } from "./password.ts";

test("a hash is a PHC string with its own salt, and fits its password only", async () => {
  const [one, two] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
  expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword("correct horse", one)).toBe(true);
  expect(await verifyPassword("wrong horse", one)).toBe(false);
  expect(await verifyPassword("", one)).toBe(false);
});

test("no hash or one that cannot be read fits nothing, and costs as much as a wrong password", async () => {
  const hash = await hashPassword("x");
  // processor time, not the clock: other tests run beside this one
  const cost = async (work: () => Promise<boolean>) => {
    const began = process.cpuUsage();
    expect(await work()).toBe(false);
    const { user, system } = process.cpuUsage(began);
    return user + system;
  };
  const wrong = await cost(() => verifyPassword("y", hash));
  for (const missing of [null, undefined, "", "plain", "$scrypt$ln=14$x"]) {
    expect(await cost(() => verifyPassword("y", missing))).toBeGreaterThan(wrong / 4);
  }
});
