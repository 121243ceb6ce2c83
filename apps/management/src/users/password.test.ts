import { expect, test } from "vitest";
import { hashPassword, isSupportedHash, isWeakHash, verifyPassword } from "./password.ts";
import { checkPassword } from "./weak-passwords.ts";

test("a hash is a PHC string with its own salt, and fits its password only", async () => {
  const [one, two] = await Promise.all([hashPassword("correct horse"), hashPassword("correct horse")]);
  expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(one).not.toBe(two);
  expect(await verifyPassword("correct horse", one)).toBe(true);
  expect(await verifyPassword("wrong horse", one)).toBe(false);
  expect(await verifyPassword("", one)).toBe(false);
});

test("a missing or unreadable hash fits no password, and costs as much as a wrong password", async () => {
  const hash = await hashPassword("x");
  // The test measures processor time, not the clock, because other tests run beside this one.
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

test.each([
  // These rows are from the reference implementation's own tests.
  ["password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"],
  // These rows are from Python's hashlib.
  ["correct horse", "$scrypt$ln=15,r=8,p=2$c29tZS1zYWx0LWJ5dGVzIQ$dikLRjEBo+Cma4jnmXqAhF+2gR5ffGL4ic5qRbHJpTY"],
  // These rows are from the tests of jBCrypt and crypt_blowfish.
  ["abc", "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"],
  ["U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ["U*U", "$2y$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
])("an imported hash of %s fits it and no other password", async (password, hash) => {
  expect(isSupportedHash(hash)).toBe(true);
  expect(await verifyPassword(password, hash)).toBe(true);
  expect(await verifyPassword(`${password}!`, hash)).toBe(false);
});

test("a hash with few blocks and many lanes can be verified", async () => {
  for (const costs of ["ln=2,r=1,p=4", "ln=1,r=99,p=4"]) {
    const hash = `$scrypt$${costs}$c2FsdHNhbHQ$a2V5a2V5a2V5a2V5a2V5a2V5`;
    expect(await verifyPassword("x", hash)).toBe(false);
  }
});

const salt = "c29tZXNhbHQ";
const key = "CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
test.each([
  "",
  "secret",
  `$2b$12$${"a".repeat(53)}`,
  "$1$salt$hash",
  // These cost more than about a second, or come from no bcrypt.
  "$2b$14$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  "$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  "$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe",
  " $2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
  `$argon2i$v=19$m=65536,t=2,p=1$${salt}$${key}`,
  `$argon2id$m=65536,t=2,p=1$${salt}$${key}`,
  // These cost more than one attempt may.
  `$argon2id$v=19$m=999999,t=2,p=1$${salt}$${key}`,
  `$argon2id$v=19$m=65536,t=99,p=1$${salt}$${key}`,
  `$argon2id$v=19$m=65536,t=1,p=0$${salt}$${key}`,
  `$scrypt$ln=30,r=8,p=1$${salt}$${key}`,
  `$scrypt$ln=17,r=16,p=1$${salt}$${key}`,
  `$scrypt$ln=14,r=8,p=64$${salt}$${key}`,
  `$scrypt$ln=14,r=0,p=1$${salt}$${key}`,
  // These are too short to be secure.
  `$scrypt$ln=14,r=8,p=1$AA$${key}`,
  `$scrypt$ln=14,r=8,p=1$${salt}$AAAA`,
])("%s is not accepted as a hash", (hash) => expect(isSupportedHash(hash)).toBe(false));

const weakSalt = "c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc";
test.each([
  [`$scrypt$ln=14,r=8,p=1$${weakSalt}`, true],
  [`$scrypt$ln=12,r=16,p=8$${weakSalt}`, true],
  [`$scrypt$ln=14,r=8,p=5$${weakSalt}`, false],
  [`$scrypt$ln=17,r=8,p=1$${weakSalt}`, false],
  [`$argon2id$v=19$m=4096,t=2,p=1$${weakSalt}`, true],
  [`$argon2id$v=19$m=19456,t=2,p=1$${weakSalt}`, false],
  [`$argon2id$v=19$m=7168,t=5,p=1$${weakSalt}`, false],
  ["$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", true],
  ["$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", false],
  ["", false],
])("a hash %s costs less to try than a new one may: %s", (hash, weak) => {
  expect(isWeakHash(hash, "password")).toBe(weak);
});

test("our own hashes are not weak, and a long password is not hashed anew because bcrypt has verified only a part of it", async () => {
  expect(isWeakHash(await hashPassword("x"), "x")).toBe(false);
  expect(isWeakHash("$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "x".repeat(73))).toBe(false);
});

test.each([
  "password1234",
  "PassWord1234",
  "aaaaaaaaaaaa",
  "abcabcabcabc",
  "abcdabcdabcdab",
  "123456789012",
  "0987654321098",
  "abcdefghijkl",
  "lkjihgfedcba",
  "Jennifer-Ann",
  "jennifer-ann!1",
  "jennifer-annjennifer-ann",
  "１２３４５６７８９０１２",
])("the password %s of Jennifer-Ann is too easy to guess", (password) => {
  expect(() => checkPassword(password, "Jennifer-Ann")).toThrow(expect.objectContaining({ code: "constraintViolation" }));
});

test.each(["correct horse", "battery staple", "jennifer-ann likes trains", "päss word:with\\everything", "aaaaaaaaaaab", "135791113151"])(
  "the password %s of Jennifer-Ann is accepted",
  (password) => {
    expect(() => checkPassword(password, "Jennifer-Ann")).not.toThrow();
  },
);

test("a password may contain a short name, which is part of many words", () => {
  expect(() => checkPassword("annual report", "ann")).not.toThrow();
});
