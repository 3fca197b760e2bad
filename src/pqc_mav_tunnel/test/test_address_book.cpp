// SPDX-License-Identifier: Apache-2.0
#include "net/address_book.hpp"

#include <gtest/gtest.h>

#include "addresses.hpp"

namespace pqcmav {
namespace {

using test::at;

TEST(AddressBook, KnowsWhatWasAddedAndForgetsWhatWasRemoved) {
  AddressBook book;
  EXPECT_FALSE(book.contains(at("127.0.0.1", 5)));
  book.add(at("127.0.0.1", 5));
  EXPECT_TRUE(book.contains(at("127.0.0.1", 5)));
  EXPECT_FALSE(book.contains(at("127.0.0.1", 6)));
  EXPECT_FALSE(book.contains(at("127.0.0.2", 5)));
  EXPECT_TRUE(book.contains(at("::ffff:127.0.0.1", 5))) << "as a socket for both kinds names it";
  book.remove(at("127.0.0.1", 5));
  EXPECT_FALSE(book.contains(at("127.0.0.1", 5)));
}

TEST(AddressBook, TwoDronesBehindOneAddressAreTwo) {
  AddressBook book;
  book.add(at("::1", 5));
  book.add(at("::1", 5));
  book.remove(at("::1", 5));
  EXPECT_TRUE(book.contains(at("::1", 5)));
  book.remove(at("::1", 5));
  book.remove(at("::1", 5));
  EXPECT_FALSE(book.contains(at("::1", 5)));
}

TEST(AddressBook, NoAddressIsNone) {
  AddressBook book;
  book.add({});
  book.remove({});
  EXPECT_FALSE(book.contains({}));
}

}  // namespace
}  // namespace pqcmav
