/**
 * @file A log of clicks that nobody made: people who see ads on sites, and click by a rule that is known. Ids are many
 * and unequal, as in life: a few of them are in most rows, and most of them in a few.
 *
 * Who a person is says what they like by the group they are of, an ad by its topic: groups and topics that fit are what
 * a model of pairs finds and averages of ids do not. All numbers are hashes of the seed, so a row is the same whenever
 * it is asked for; texts of ids are kept, for people and sites come again.
 */
import { hashUniform } from '../base/random.js';

export interface ClickLogOptions {
  readonly rows: number;
  readonly seed: number;
  /** Rows that came before: those of the days before. Default: 0. */
  readonly first?: number;
}

/** A row as a file of clicks would have it. */
export interface ClickRow extends Record<string, string | number> {
  readonly timestamp: number;
  readonly userId: string;
  readonly adId: number;
  readonly siteId: string;
  readonly topic: string;
  readonly group: string;
  readonly device: string;
  readonly hour: number;
  readonly bid: number;
  readonly click: 0 | 1;
}

/** What a row is made of: places of its ids among all, and numbers. */
interface Drawn {
  readonly user: number;
  readonly ad: number;
  readonly site: number;
  readonly group: number;
  readonly topic: number;
  readonly device: number;
  readonly hour: number;
  readonly bid: number;
}

const USERS = 120_000;
const ADS = 40_000;
const SITES = 3_000;
const GROUPS = ['student', 'parent', 'traveller', 'gamer', 'cook', 'runner', 'reader', 'builder', 'gardener', 'driver'];
const TOPICS = [
  ...['books', 'games', 'flights', 'hotels', 'shoes', 'phones', 'toys', 'kitchen', 'tools', 'plants', 'cars', 'films'],
  ...['music', 'insurance', 'banking', 'courses', 'food', 'furniture', 'pets', 'clothes'],
];
const DEVICES = ['phone', 'desktop', 'tablet', 'tv'];
/** 1 January 2026, and a row each few seconds. */
const START_SECONDS = 1_767_225_600;
const ROW_SECONDS = 7;
/** How unequal ids are: the share of rows that the first tenth of them has. */
const SKEW = 2.6;

/** Streams of numbers: each is a hash of its own. */
const [WHO, WHAT, WHERE, DEVICE, BID, CLICK] = [1, 2, 3, 4, 5, 6];
const [USER_BIAS, AD_BIAS, SITE_BIAS, FIT, GROUP_OF, TOPIC_OF, DEVICE_BIAS, HOUR_BIAS] = [
  11, 12, 13, 14, 15, 16, 17, 18,
];
const BASE = -1.9;

const timeOf = (index: number): number => START_SECONDS + index * ROW_SECONDS;
const adIdOf = (ad: number): number => 1_000_000_007 * (ad + 1);

export class ClickLog {
  readonly rows: number;
  readonly #seed: number;
  readonly #first: number;
  /** By place. A text that is the same object is hashed once by whoever tells ids apart. */
  readonly #users = new Array<string>(USERS);
  readonly #sites = new Array<string>(SITES);

  constructor({ rows, seed, first = 0 }: ClickLogOptions) {
    this.rows = rows;
    this.#seed = seed;
    this.#first = first;
  }

  /** The row at a place, from 0. */
  row(place: number): ClickRow {
    const index = this.#first + place;
    const drawn = this.#drawn(index);
    const { user, ad, site, group, topic, device, hour, bid } = drawn;
    return {
      timestamp: timeOf(index),
      userId: this.#userText(user),
      adId: adIdOf(ad),
      siteId: this.#siteText(site),
      topic: TOPICS[topic]!,
      group: GROUPS[group]!,
      device: DEVICES[device]!,
      hour,
      bid,
      click: this.#clicked(drawn, index),
    };
  }

  /** The rows from `first` on as columns. */
  columns(first: number, count: number) {
    const numbers = () => new Float64Array(count);
    const places = () => new Uint32Array(count);
    const [timestamp, adId, hour, bid, click] = [numbers(), numbers(), numbers(), numbers(), numbers()];
    const [userId, siteId, topic, group, device] = [places(), places(), places(), places(), places()];
    for (let row = 0; row < count; row++) {
      const index = this.#first + first + row;
      const drawn = this.#drawn(index);
      this.#userText(drawn.user);
      this.#siteText(drawn.site);
      timestamp[row] = timeOf(index);
      userId[row] = drawn.user;
      adId[row] = adIdOf(drawn.ad);
      siteId[row] = drawn.site;
      topic[row] = drawn.topic;
      group[row] = drawn.group;
      device[row] = drawn.device;
      hour[row] = drawn.hour;
      bid[row] = drawn.bid;
      click[row] = this.#clicked(drawn, index);
    }
    return {
      timestamp: { numbers: timestamp },
      userId: { places: userId, texts: this.#users },
      adId: { numbers: adId },
      siteId: { places: siteId, texts: this.#sites },
      topic: { places: topic, texts: TOPICS },
      group: { places: group, texts: GROUPS },
      device: { places: device, texts: DEVICES },
      hour: { numbers: hour },
      bid: { numbers: bid },
      click: { numbers: click },
    };
  }

  /** How likely the click of a row was: what nobody can know better. */
  probability(place: number): number {
    return this.#likely(this.#drawn(this.#first + place));
  }

  *[Symbol.iterator](): Generator<ClickRow> {
    for (let place = 0; place < this.rows; place++) yield this.row(place);
  }

  #clicked(drawn: Drawn, index: number): 0 | 1 {
    return this.#uniform(CLICK, index) < this.#likely(drawn) ? 1 : 0;
  }

  #userText(user: number): string {
    this.#users[user] ??= `u${((user + 1) * 2_654_435_761) % 4_294_967_296}`;
    return this.#users[user];
  }

  #siteText(site: number): string {
    this.#sites[site] ??= `site-${site + 1}.example`;
    return this.#sites[site];
  }

  #likely({ user, ad, site, group, topic, device, hour, bid }: Drawn): number {
    const logit =
      BASE +
      0.5 * this.#weight(USER_BIAS, user) +
      1.1 * this.#weight(AD_BIAS, ad) +
      0.5 * this.#weight(SITE_BIAS, site) +
      2.2 * this.#weight(FIT, group * TOPICS.length + topic) +
      0.4 * this.#weight(DEVICE_BIAS, device * TOPICS.length + topic) +
      0.3 * this.#weight(HOUR_BIAS, hour) +
      0.25 * Math.log(bid);
    return 1 / (1 + Math.exp(-logit));
  }

  #drawn(index: number): Drawn {
    const user = this.#oneOf(WHO, index, USERS);
    const ad = this.#oneOf(WHAT, index, ADS);
    return {
      user,
      ad,
      site: this.#oneOf(WHERE, index, SITES),
      group: Math.floor(this.#uniform(GROUP_OF, user) * GROUPS.length),
      topic: Math.floor(this.#uniform(TOPIC_OF, ad) * TOPICS.length),
      device: Math.floor(this.#uniform(DEVICE, index) ** 2 * DEVICES.length),
      hour: Math.floor(((index * ROW_SECONDS) / 3600) % 24),
      bid: Math.round(20 * Math.exp(3 * this.#uniform(BID, index))) / 100,
    };
  }

  /** Few of `count` are drawn often. */
  #oneOf(stream: number, index: number, count: number): number {
    return Math.floor(this.#uniform(stream, index) ** SKEW * count);
  }

  /** From -1 to 1. */
  #weight(stream: number, id: number): number {
    return 2 * this.#uniform(stream, id) - 1;
  }

  #uniform(stream: number, id: number): number {
    return hashUniform(this.#seed, stream, id);
  }
}
