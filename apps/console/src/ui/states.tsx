import { CircleAlert, Inbox, Info, type LucideIcon, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { problemOf } from "../api/client.ts";
import { states as t } from "../text/en.ts";
import { Button } from "./button.tsx";
import { copyText } from "./copy.tsx";
import style from "./states.module.css";

interface EmptyProps {
  readonly title: string;
  readonly text?: ReactNode;
  readonly icon?: LucideIcon;
  readonly command?: string;
  /** It is the whole page, so its title is that of the page. */
  readonly alone?: boolean;
  readonly children?: ReactNode;
}

function Heading({ alone, children }: { alone: boolean | undefined; children: ReactNode }) {
  return alone ? <h1>{children}</h1> : <h2>{children}</h2>;
}

/** Says why there is nothing, and the one thing to do next; `command` is the same for the command line. */
export function Empty({ title, text, icon: Icon = Inbox, command, alone, children }: EmptyProps) {
  return (
    <div className={style["state"]}>
      <span className={style["art"]}>
        <Icon size={22} aria-hidden />
      </span>
      <Heading alone={alone}>{title}</Heading>
      {text !== undefined && <p>{text}</p>}
      {children !== undefined && <div className={style["next"]}>{children}</div>}
      {command !== undefined && <code className={style["command"]}>{command}</code>}
    </div>
  );
}

/** Says what failed in the server's own words, with the request by which its operator finds it. */
export function Failure({ error, retry, alone }: { error: unknown; retry?: (() => void) | undefined; alone?: boolean }) {
  const { text, requestId, status } = problemOf(error);
  return (
    <div className={style["state"]} role="alert">
      <span className={`${style["art"]} ${style["bad"]}`}>
        <CircleAlert size={22} aria-hidden />
      </span>
      <Heading alone={alone}>{status === 403 ? t.forbidden : status === 404 ? t.notFound : t.failed}</Heading>
      <p>{text}</p>
      {requestId !== undefined && <code className={style["command"]}>{t.request(requestId)}</code>}
      <div className={style["next"]}>
        {retry !== undefined && <Button onClick={retry}>{t.retry}</Button>}
        <Button look="ghost" onClick={() => copyText(`${text}\n${requestId ?? ""}\n${location.href}\n${new Date().toISOString()}`)}>
          {t.copyForSupport}
        </Button>
      </div>
    </div>
  );
}

/** Grey lines in the shape of what comes, after a moment. */
export function Skeleton({ lines = 5 }: { lines?: number }) {
  return (
    <div className={style["lines"]} role="status" aria-label={t.loading}>
      {Array.from({ length: lines }, (_, line) => (
        <div key={line} className={style["skeleton"]} style={{ width: `${90 - ((line * 17) % 40)}%` }} />
      ))}
    </div>
  );
}

/** In a line of text: what comes. */
export function Pending() {
  return (
    <span role="status" aria-label={t.loading}>
      –
    </span>
  );
}

/** A remark in a box: a hint, a warning, or a refusal. */
export function Note({ tone, children, alert }: { tone?: "bad" | "warn"; children: ReactNode; alert?: boolean }) {
  const Icon = tone === undefined ? Info : TriangleAlert;
  return (
    <div className={style["note"]} data-tone={tone} role={alert ? "alert" : undefined}>
      <Icon size={15} aria-hidden />
      <div>{children}</div>
    </div>
  );
}

/** What a refused change says, below the form that sent it. */
export function Refusal({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const { text, requestId } = problemOf(error);
  return (
    <Note tone="bad" alert>
      {text}
      {requestId !== undefined && <div className="muted mono">{t.request(requestId)}</div>}
    </Note>
  );
}
