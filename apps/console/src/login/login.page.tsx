import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useRouter } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { ApiError } from "../api/client.ts";
import { queryClient } from "../api/query-client.ts";
import { consoleConfig, providerUrl, rememberIssuer, signIn } from "../api/session.ts";
import { login as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Note, Refusal } from "../ui/states.tsx";
import style from "./login.module.css";
import { isPrivate, safeTarget } from "./login.state.ts";

const route = getRouteApi("/login");

/** The page of whoever is not signed in. */
export function LoginPage() {
  const { to: asked, error } = route.useSearch();
  const { basepath } = useRouter();
  const to = safeTarget(asked, basepath === "/" ? "" : basepath);
  const { data } = useQuery(consoleConfig);
  useEffect(() => {
    document.title = `${t.title} · Harrier`;
  }, []);
  const issuers = data?.signIn.issuers ?? [];
  return (
    <main className={style["page"]}>
      <div className={style["box"]}>
        <div className={style["brand"]}>
          <svg width="48" height="48" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="9" fill="var(--accent)" />
            <path d="M6 19c4-1 7-4 10-9 3 5 6 8 10 9-4 0-7 1-8 4h-4c-1-3-4-4-8-4z" fill="var(--on-accent)" />
          </svg>
          <div>
            <h1>{t.title}</h1>
            <p className="muted">{t.lead}</p>
          </div>
        </div>
        <div className={style["card"]}>
          {error !== undefined && (
            <Note tone="bad" alert>
              {Object.hasOwn(t.failures, error) ? t.failures[error] : t.failures["provider"]}
            </Note>
          )}
          {issuers.map(({ id, name }) => (
            <a key={id} href={providerUrl(id, to)} className={buttonClass()} onClick={() => rememberIssuer(id)}>
              {t.with(name)}
            </a>
          ))}
          {issuers.length > 0 && data?.signIn.password && <div className={style["or"]}>{t.or}</div>}
          {data?.signIn.password !== false && <PasswordForm to={to} />}
        </div>
        {!isPrivate(location.protocol, location.hostname) && <Note tone="warn">{t.plain}</Note>}
      </div>
    </main>
  );
}

function PasswordForm({ to }: { to: string }) {
  const [user, setUser] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const router = useRouter();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await signIn(user, password);
      rememberIssuer(undefined);
      queryClient.clear();
      router.history.push(router.basepath === "/" ? to : `${router.basepath}${to}`);
    } catch (thrown) {
      setError(thrown);
      setPassword("");
    }
    setBusy(false);
  };
  return (
    <form onSubmit={submit} style={{ display: "grid", gap: 14 }}>
      <Field
        label={t.user}
        hint={t.userHint}
        value={user}
        onChange={setUser}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        required
        autoFocus
      />
      <Field label={t.password} type="password" value={password} onChange={setPassword} autoComplete="current-password" required />
      <SignInError error={error} />
      <Button look="primary" type="submit">
        {busy ? t.busy : t.button}
      </Button>
    </form>
  );
}

function SignInError({ error }: { error: unknown }) {
  if (error instanceof ApiError && error.status === 401)
    return (
      <Note tone="bad" alert>
        {t.wrong}
      </Note>
    );
  if (error instanceof ApiError && error.status === 429)
    return (
      <Note tone="bad" alert>
        {t.wait(error.retryAfter ?? 60)}
      </Note>
    );
  return <Refusal error={error} />;
}
