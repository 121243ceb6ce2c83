import type { UserCreate } from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";
import { isSupportedHash } from "./password.ts";
import { checkPassword } from "./weak-passwords.ts";

/** Refuses new users with a hash that cannot be tried here, or with a password that is weak (contract management.md §10.1). */
export function checkSignIns(users: readonly Pick<UserCreate, "name" | "password" | "passwordHash">[]): void {
  if (!users.every(({ passwordHash }) => passwordHash === undefined || isSupportedHash(passwordHash))) {
    throw new HarrierError(
      "constraintViolation",
      "passwordHash must be a PHC string of argon2id or scrypt, or one of bcrypt, with usual costs.",
    );
  }
  for (const { name, password } of users) if (password !== undefined) checkPassword(password, name);
}
