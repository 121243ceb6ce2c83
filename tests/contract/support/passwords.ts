import { argon2, randomBytes } from "node:crypto";
import { promisify } from "node:util";
import { uniqueName } from "@harrier/testkit";

const derive = promisify(argon2);

/**
 * Makes a password with its hash, as another installation would bring it. The service takes a quarter of a second to hash a password, and as long at
 * every sign-in; with this hash (argon2id at the least cost of OWASP's password storage sheet, which it keeps) it takes a tenth of that.
 */
export async function importedPassword(): Promise<{ password: string; passwordHash: string }> {
  const [password, nonce] = [uniqueName("secret"), randomBytes(16)];
  const key = await derive("argon2id", { message: password, nonce, memory: 7_168, passes: 5, parallelism: 1, tagLength: 32 });
  const unpadded = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  return { password, passwordHash: `$argon2id$v=19$m=7168,t=5,p=1$${unpadded(nonce)}$${unpadded(key)}` };
}

/** Passwords with their hashes by others, one of each kind that is taken. */
export const knownHashes = [
  ["password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"],
  ["U*U", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
  ["correct horse", "$scrypt$ln=15,r=8,p=2$c29tZS1zYWx0LWJ5dGVzIQ$dikLRjEBo+Cma4jnmXqAhF+2gR5ffGL4ic5qRbHJpTY"],
] as const;
