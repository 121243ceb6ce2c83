import { HarrierError } from "@harrier/errors";

/** These are the commonest passwords that are long enough, in lower case; rules find repeated parts and rows of characters. */
const common: ReadonlySet<string> = new Set(
  `1q2w3e4r5t6y 1qaz2wsx3edc 1qazxsw23edc q1w2e3r4t5y6 zaq12wsxcde3 qwertyuiop12 qwertyuiop123 qwerty123456 qwerty1234567 qwerty12345678
  qwertyqwerty1 qwertyasdfgh asdfghjkl123 asdfghjkl1234 zxcvbnm12345 zxcvbnm123456 password1234 password12345 password123456 password1234567
  password12345678 mypassword12 mypassword123 password2024 password2025 password2026 passw0rd1234 p@ssw0rd1234 p@ssword1234 pa$$word1234
  adminadmin12 adminadmin123 admin1234567 admin12345678 admin123456789 administrator administrator1 administrator12 administrator123
  changeme1234 changeme12345 changemenow1 letmein12345 letmein123456 welcome12345 welcome123456 welcome12345678 iloveyou1234 iloveyou12345
  iloveyou123456 superman1234 princess1234 football1234 baseball1234 sunshine1234 trustno12345 masterpassword secretpassword
  defaultpassword temporarypassword correcthorsebatterystaple thisismypassword abcd12345678 abc123456789 a1b2c3d4e5f6 a123456789012
  test12345678 test123456789 testtesttest1 guest1234567 root12345678 user12345678 updateserver harrier12345 hawkbit12345 computer1234
  internet1234 whatever1234 starwars1234 pokemon12345 michael12345 jennifer1234 123456789abc 123456789abcd 12345678910a 987654321abc
  123qweasdzxc qweasdzxc123 qazwsxedc123 qazwsxedcrfv 1234qwerasdf 1234qwer1234 asdf1234asdf abcd1234abcd`.split(/\s+/),
);

/** What remains of a password without the name must be as long as passwords had to be in the past. */
const leastBesideName = 8;
/** Shorter names are parts of many words. */
const minNameLength = 4;

/**
 * Refuses a new password that an attacker tries first: a common one, one of a few characters that are repeated or in a row, and one that is
 * little more than the user's name (NIST SP 800-63B §5.1.1.2). @throws constraintViolation
 */
export function checkPassword(password: string, name: string): void {
  const text = password.normalize("NFKC").toLowerCase();
  const weak = common.has(text) || isRepeated(text) || isRow(text) || isName(text, name.normalize("NFKC").toLowerCase());
  if (weak)
    throw new HarrierError("constraintViolation", "This password is too easy to guess: a common one, a pattern, or the name of the user.");
}

/** Says whether the text repeats up to four characters again and again. */
function isRepeated(text: string): boolean {
  return [1, 2, 3, 4].some(
    (length) =>
      text ===
      text
        .slice(0, length)
        .repeat(Math.ceil(text.length / length))
        .slice(0, text.length),
  );
}

/** Says whether the characters follow each other, up or down: 12345678901, abcdefghijkl. */
function isRow(text: string): boolean {
  const steps = new Set(Array.from({ length: text.length - 1 }, (_, n) => text.charCodeAt(n + 1) - text.charCodeAt(n)));
  // After 9 follows 0.
  const digits = /^\d+$/.test(text) ? new Set([...steps].map((step) => (step + 10) % 10)) : steps;
  return digits.size === 1 && [1, 9, -1].includes([...digits][0] ?? 0);
}

function isName(text: string, name: string): boolean {
  return name.length >= minNameLength && text.includes(name) && text.replaceAll(name, "").length < leastBesideName;
}
