import { lazy, type ReactNode, Suspense, useEffect, useId, useState } from "react";
import { commands } from "../text/en.ts";
import type { ApiText } from "./api-text.tsx";
import { Button } from "./button.tsx";
import style from "./page.module.css";

interface PageProps {
  readonly title: string;
  /** What stands beside the title: a status, a count. */
  readonly beside?: ReactNode;
  readonly trail?: ReactNode;
  readonly sub?: ReactNode;
  readonly actions?: ReactNode;
  /** What it shows, as text for scripts and tickets. */
  readonly api?: ApiText;
  /** The page takes the height of the window, for lists that scroll in themselves. */
  readonly fill?: boolean;
  readonly children: ReactNode;
}

/** A page with its head; the title is that of the browser's tab too. */
export function Page({ title, beside, trail, sub, actions, api, fill, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Harrier`;
  }, [title]);
  return (
    <div className={`${style["page"]} ${fill ? style["fill"] : ""}`}>
      <header className={style["head"]}>
        <div className={style["titles"]}>
          {trail !== undefined && <span className={style["trail"]}>{trail}</span>}
          <div className={style["title"]}>
            <h1>{title}</h1>
            {beside}
          </div>
          {sub !== undefined && <p className={style["sub"]}>{sub}</p>}
        </div>
        {(actions !== undefined || api !== undefined) && (
          <div className={style["actions"]}>
            {api !== undefined && <Api of={api} />}
            {actions}
          </div>
        )}
      </header>
      {children}
    </div>
  );
}

const ApiDialog = lazy(() => import("./api-text.tsx").then(({ ApiDialog: it }) => ({ default: it })));

function Api({ of }: { of: ApiText }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button look="ghost" onClick={() => setOpen(true)}>
        {commands.api}
      </Button>
      <Suspense>{open && <ApiDialog of={of} close={() => setOpen(false)} />}</Suspense>
    </>
  );
}

/** A part of a page in a box, with a heading unless it speaks for itself. */
export function Card({ title, aside, children, plain }: { title?: string; aside?: ReactNode; children: ReactNode; plain?: boolean }) {
  const id = useId();
  return (
    <section className={style["card"]} {...(title === undefined ? {} : { "aria-labelledby": id })}>
      {title !== undefined && (
        <div className={style["cardHead"]}>
          <h2 id={id}>{title}</h2>
          {aside}
        </div>
      )}
      {plain ? children : <div className={style["cardBody"]}>{children}</div>}
    </section>
  );
}

/** Names with their values; those without a value are left out. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  const known = of.filter(([, value]) => value !== undefined && value !== null && value !== "");
  return (
    <dl className={style["facts"]}>
      {known.map(([name, value]) => (
        <Fact key={name} name={name} value={value} />
      ))}
    </dl>
  );
}

function Fact({ name, value }: { name: string; value: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}
