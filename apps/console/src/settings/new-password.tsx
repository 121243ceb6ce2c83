import { people as t } from "../text/en.ts";
import { Field } from "../ui/field.tsx";
import { limits } from "../ui/limits.ts";

/** A password has at least so many characters. */
export const passwordLeast = 12;

interface NewPasswordProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly autoFocus?: boolean;
}

/** The field for a password that somebody else will sign in with. */
export function NewPassword(props: NewPasswordProps) {
  return <Field {...props} hint={t.passwordHint} type="password" autoComplete="new-password" maxLength={limits.password} />;
}
