/// A page that plays the official JavaScript client: its long polling, and its move to a WebSocket.
enum BrowserPage {
  static let text = #"""
    <!DOCTYPE html>
    <meta charset="utf-8">
    <title>A client in a browser</title>
    <body>
    <script>
    "use strict";
    const parameters = new URLSearchParams(location.search);
    const host = parameters.get("db"), part = parameters.get("part");
    const report = (step, detail) =>
      fetch("/report", {method: "POST", body: JSON.stringify({step, detail})});

    // The transport: scripts in a hidden frame, one request that waits, and a second that sends.
    let sessions = 0;
    class Polling {
      constructor(query, onMessage, onEnd) {
        Object.assign(this, {onMessage, onEnd, serial: 0, piece: 0, pieces: [], open: new Set()});
        Object.assign(this, {lists: {}, next: 0, isBegun: false, mayPoll: true, timers: new Map()});
        const number = ++sessions;
        window["pLPCommand" + number] = (...words) => this.command(...words);
        window["pRTLPCB" + number] = (list, messages) => this.receive(list, messages);
        this.frame = document.createElement("iframe");
        this.frame.style.display = "none";
        document.body.append(this.frame);
        const page = this.frame.contentDocument;
        page.open(); page.write("<html><body></body></html>"); page.close();
        const serial = Math.floor(Math.random() * 1e8);
        this.load(`start=t&ser=${serial}&cb=${number}&v=5&ns=web${query}`, () => {});
      }
      load(query, done) {
        setTimeout(() => {
          if (!this.frame) return;
          const script = this.frame.contentDocument.createElement("script");
          script.async = true;
          script.src = `http://${host}/.lp?${query}`;
          script.onload = () => { script.remove(); done(); };
          script.onerror = () => this.end();
          this.frame.contentDocument.body.append(script);
        }, 0);
      }
      command(name, first, second) {
        if (!this.frame) return;
        if (name === "start") {
          Object.assign(this, {id: first, secret: second});
        } else if (first) {
          Object.assign(this, {mayPoll: false, last: first});
          this.deliver();
        } else {
          this.end();
        }
      }
      receive(list, messages) {
        if (!this.frame) return;
        this.lists[list] = messages;
        this.deliver();
      }
      deliver() {
        while (this.frame && this.lists[this.next]) {
          const messages = this.lists[this.next];
          delete this.lists[this.next++];
          for (const message of messages) this.onMessage(message);
        }
        if (this.last !== undefined && this.next > this.last) this.end();
      }
      begin() {
        this.isBegun = true;
        this.goodbye = document.createElement("iframe");
        this.goodbye.style.display = "none";
        this.canLeave = new Promise((resolve) => { this.goodbye.onload = resolve; });
        this.goodbye.src = `http://${host}/.lp?dframe=t&id=${this.id}&pw=${this.secret}&ns=web`;
        document.body.append(this.goodbye);
        while (this.request());
      }
      request() {
        const room = this.pieces.length ? 2 : 1;
        if (!this.frame || !this.isBegun || !this.mayPoll || this.open.size >= room) return false;
        const serial = ++this.serial;
        let data = "";
        for (let i = 0; this.pieces.length; ++i) {
          const piece = this.pieces[0];
          if (data.length + piece.text.length + 30 > 1870) break;
          this.pieces.shift();
          data += `&seg${i}=${piece.number}&ts${i}=${piece.total}&d${i}=${piece.text}`;
        }
        this.open.add(serial);
        const done = () => { this.open.delete(serial); this.request(); };
        const timer = setTimeout(done, 25000);
        this.load(`id=${this.id}&pw=${this.secret}&ser=${serial}&ns=web${data}`, () => {
          clearTimeout(timer);
          done();
        });
        return true;
      }
      send(message) {
        const bytes = new TextEncoder().encode(JSON.stringify(message));
        let text = "";
        for (let i = 0; i < bytes.length; i += 3) {
          text += btoa(String.fromCharCode(...bytes.subarray(i, i + 3)));
        }
        text = text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, ".");
        const total = Math.ceil(text.length / 1840);
        for (let i = 0; i < total; ++i) {
          this.pieces.push({number: this.piece++, total, text: text.substr(i * 1840, 1840)});
        }
        this.request();
      }
      end() {
        if (!this.frame) return;
        this.frame.remove();
        this.frame = null;
        if (this.goodbye) this.goodbye.remove();
        this.onEnd();
      }
    }

    // The connection: requests with answers, and the move to a WebSocket.
    class Connection {
      constructor(last) {
        Object.assign(this, {number: 0, waiting: new Map(), pushes: [], held: [], isOver: false});
        this.ready = new Promise((resolve) => { this.greeted = resolve; });
        this.ended = new Promise((resolve) => { this.over = resolve; });
        this.receiving = this.sending = this.polling = new Polling(
          last ? "&ls=" + last : "",
          (message) => this.receive(message),
          () => { if (this.sending === this.polling) this.over(); }
        );
      }
      receive(message) {
        const {t, d} = message;
        if (t === "c" && d.t === "h") {
          this.session = d.d.s;
          this.greeting = d.d;
          this.polling.begin();
          this.greeted();
        } else if (t === "c" && d.t === "n") {
          this.receiving = this.socket;
          for (const held of this.held.splice(0)) this.receive(held);
          this.hasMoved();
        } else if (t === "d" && d.r) {
          this.waiting.get(d.r)(d.b);
          this.waiting.delete(d.r);
        } else if (t === "d") {
          this.pushes.push(d);
        }
      }
      ask(action, body) {
        const number = ++this.number;
        this.sending.send({t: "d", d: {r: number, a: action, b: body}});
        return new Promise((resolve) => this.waiting.set(number, resolve));
      }
      move() {
        const socket = new WebSocket(`ws://${host}/.ws?v=5&s=${this.session}&ns=web`);
        let due = 2, count = 0, text = "";
        const send = (kind) => socket.send(JSON.stringify({t: "c", d: {t: kind, d: {}}}));
        this.socket = {send: (message) => {
          const frames = JSON.stringify(message).match(/[^]{1,16383}(?![\udc00-\udfff])/g);
          if (frames.length > 1) socket.send(frames.length);
          for (const frame of frames) socket.send(frame);
        }};
        socket.onmessage = ({data}) => {
          if (!count && data.length <= 6 && Number(data)) { count = Number(data); text = ""; return; }
          text = count ? text + data : data;
          if (count && --count) return;
          const message = JSON.parse(text), kind = message.t === "c" && message.d.t;
          if (message.t === "d") {
            if (this.receiving === this.socket) this.receive(message); else this.held.push(message);
          } else if (kind === "a" || kind === "o") {
            if (kind === "o") due -= 1;
            if (due) return send("p");
            send("a");
            this.polling.send({t: "c", d: {t: "n", d: {}}});
            this.sending = this.socket;
          }
        };
        socket.onclose = () => this.over();
        return new Promise((resolve) => { this.hasMoved = resolve; });
      }
    }

    const pause = () => new Promise((next) => setTimeout(next, 20));
    const check = (isTrue, what) => { if (!isTrue) throw new Error(what); };
    async function talk(connection, size) {
      const text = "<\u2028é😀&>".repeat(size);
      check((await connection.ask("p", {p: "/big", d: {text}})).s === "ok", "the write");
      const answer = await connection.ask("g", {p: "/big", q: {}});
      check(answer.s === "ok" && answer.d.text === text, "the read");
    }

    const parts = {
      // Shows one part after the other, each in a tab of its own.
      async control() {
        for (let tab; ; await pause()) {
          const url = await (await fetch("/next")).text();
          if (!url) continue;
          if (tab) tab.close();
          tab = open(url);
        }
      },
      // What a browser does whose WebSockets are blocked, and then one whose are not.
      async first() {
        const blocked = new Connection();
        await blocked.ready;
        await talk(blocked, 10);
        await talk(blocked, 15000);
        await blocked.ask("q", {p: "/push", h: ""});
        await report("listening");
        while (!blocked.pushes.some((push) => push.b.d === "pushed")) await pause();
        const other = new Connection();
        await other.ready;
        await other.ask("o", {p: "/moved", d: true});
        await Promise.all([other.move(), talk(other, 3000)]);
        await talk(other, 15000);
        await talk(blocked, 10);
        await report("talked", other.greeting.h);
      },
      // What is scheduled is carried out when the page is closed, or loaded again.
      async scheduled() {
        const connection = new Connection();
        await connection.ready;
        await connection.ask("o", {p: "/gone/tab", d: true});
        // Until its frame is there, a page cannot tell the server that it is closed.
        await connection.polling.canLeave;
        new BroadcastChannel("tabs").postMessage("");
      },
      async closing() {
        const channel = new BroadcastChannel("tabs");
        const tab = open("/?db=" + host + "&part=scheduled");
        await new Promise((next) => { channel.onmessage = next; });
        tab.close();
        await report("closed");
      },
      async reload() {
        if (sessionStorage.loaded) return report("reloaded");
        sessionStorage.loaded = 1;
        const connection = new Connection();
        await connection.ready;
        await connection.ask("o", {p: "/gone/reload", d: true});
        await connection.polling.canLeave;
        location.reload();
      },
      async restart() {
        const connection = new Connection();
        await connection.ready;
        await talk(connection, 10);
        await report("ready");
        await connection.ended;
        for (let last = connection.session; ; ) {
          const again = new Connection(last);
          const ready = again.ready.then(() => true), ended = again.ended.then(() => false);
          if (!await Promise.race([ready, ended])) { await pause(); continue; }
          await talk(again, 10);
          return report("again");
        }
      },
    };
    parts[part]().catch((error) => report("failed", String(error)));
    </script>
    """#
}
